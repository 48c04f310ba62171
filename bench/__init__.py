"""Speed, measured beside a floor taken in the same run: on a noisy machine only ratios mean anything."""
