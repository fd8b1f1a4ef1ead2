"""What measurements of the surveillance room start and fill: servers, stores, cameras."""
