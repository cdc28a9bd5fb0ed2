"""Threads, queues and rings: what the stages are made of."""
