"""The stages of the sound path, one thread each: from the microphone to the speaker."""
