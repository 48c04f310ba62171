"""The reference, written from the code: `make reference` puts it into docs/reference, a test compares the two.

Each page is a module with two functions: `page()` is its text, and `undocumented()` names what has nothing said about it, which
fails the test. Descriptions are mended where the thing is declared, never here.
"""
