"""The conversation, pure: events in, commands out, time is an argument."""
