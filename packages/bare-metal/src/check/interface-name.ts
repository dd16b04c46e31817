/** Printable ASCII without `/` and `:`, 15 octets at most; not `.` nor `..`, so no dot first. */
const INTERFACE = /^[!--0-9;-~][!-.0-9;-~]{0,14}$/;

/** True for a name that an interface of Linux can have. The definition of the ClusterAgent has the same pattern. */
export function isInterfaceName(text: string): boolean {
  return INTERFACE.test(text);
}
