"""Evidence of alerts: images, clips, detections, versions and bundles."""
