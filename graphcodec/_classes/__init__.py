"""What a codec knows of classes: their tags, fields, slots and how one is made."""
