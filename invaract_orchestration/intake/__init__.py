"""What arrived: the files of a batch, their headers and digests, and the identity of the submission."""
