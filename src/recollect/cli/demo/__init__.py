"""What a newcomer is shown: a week of somebody's life with an assistant (`week`, told in `week.toml`), where it is kept apart
from everybody's own (`home`), and a walk through the commands (`tour`)."""
