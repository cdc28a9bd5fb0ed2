"""What the daemon is to its machine and its owner: the control socket and the doctor."""
