"""The felt's geometry: table file, calibration, pose and lens distortion."""
