"""The first five minutes of somebody who has never seen the project."""
