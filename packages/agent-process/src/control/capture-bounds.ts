// In a separate file because `--help` needs them, but not the code that parses requests.

/** The upper limits of a capture. */
export const MOST_CAPTURE_SECONDS = 3_600;
/** The largest number of packets that one capture may ask for. */
export const MOST_CAPTURE_PACKETS = 1_000_000;
