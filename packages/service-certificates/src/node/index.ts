/** The ports of the keeper: X.509 with Node and `@peculiar/x509`, Secrets in an API server. */
export { certificateIssuer } from './certificate-issuer.js';
export { certificateReader } from './certificate-reader.js';
export { clusterSecrets } from './cluster-secrets.js';
