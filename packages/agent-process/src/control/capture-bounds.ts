// In a file of its own: `--help` needs them, and none of what reads requests.

/** Seconds and packets of a capture are at most these. */
export const MOST_CAPTURE_SECONDS = 3_600;
export const MOST_CAPTURE_PACKETS = 1_000_000;
