"""What runs in the thinking process: the loop, the match as it sees it, the making of searches."""
