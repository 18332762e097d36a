"""A small learned reader: what family of wishes words of no rule may belong to. It proposes; nothing acts by it."""
