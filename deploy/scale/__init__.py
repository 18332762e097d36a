"""Past this machine: how many of each for so many calls, by a simulation seeded with what was measured."""
