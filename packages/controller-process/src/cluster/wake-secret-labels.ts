/** Labels of the Secrets with the certificates of Wake-on-LAN: `uninstall` finds them by these. */
export const WAKE_SECRET_LABELS: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'vmdhcp',
  'app.kubernetes.io/component': 'wake-on-lan',
};
