"""Who says it: synthesisers and people; shards of speech."""
