"""The contracts as suites of tests; `graphcodec.testing` has their public names."""
