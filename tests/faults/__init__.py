"""What happens when processes, servers, disks, models and clocks fail: nothing acknowledged is lost."""
