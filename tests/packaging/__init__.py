"""What is delivered: the packages that are built, and what programs may rely on in them."""
