"""The felt's timeline, built from the states of rest that the tracker keeps."""
