"""Commands about recordings and photographs."""
