/** Printable ASCII without `/` and `:`, at most 15 octets; neither `.` nor `..`, so it cannot begin with a dot. */
const INTERFACE = /^[!--0-9;-~][!-.0-9;-~]{0,14}$/;

/** True for a name that a Linux interface can have. The CRD of the ClusterAgent has the same pattern. */
export function isInterfaceName(text: string): boolean {
  return INTERFACE.test(text);
}
