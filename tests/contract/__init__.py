"""What every store promises, tested over all of them."""
