"""The camera: sources, calibration, felt views, detector, readers, round tracker."""
