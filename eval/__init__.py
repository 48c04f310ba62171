"""Quality, measured: golden sets of our own, public sets of others, floors beside every figure."""
