"""Detection in images: detections, the OpenVINO runtime, tiling and motion."""
