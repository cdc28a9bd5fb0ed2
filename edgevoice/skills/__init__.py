"""What the device can do by itself: tools, and the sentences that ask for them.

One `Registry` holds every tool, whoever asks: an intent, or the language model.
Matching a sentence has no effect; effects come from running a tool alone.
"""
