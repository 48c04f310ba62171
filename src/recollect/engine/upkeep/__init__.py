"""Looking after what is kept: what ends, goes to the archive, is rolled up or mended."""
