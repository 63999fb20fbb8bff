"""Documents looked at as data, without the classes they were made of."""
