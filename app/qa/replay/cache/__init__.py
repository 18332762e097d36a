"""What was decoded, kept between runs: the same sound and recogniser give the same transcript."""
