"""Who says it: synthesisers, people, and voices made of their recordings; shards of speech."""
