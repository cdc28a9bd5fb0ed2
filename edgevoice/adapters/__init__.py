"""The world's libraries, one to a module, behind the ports of the house."""
