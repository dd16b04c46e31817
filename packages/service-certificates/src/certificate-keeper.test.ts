import { X509Certificate } from 'node:crypto';
import { connect, createServer, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { CertificateKeeper, CertificatesContestedError, type KeptCertificate, type KeptStep } from './certificate-keeper.js';
import { MemorySecrets } from './memory-secrets-fixtures.js';
import { certificateIssuer } from './node/certificate-issuer.js';
import { certificateReader } from './node/certificate-reader.js';
import { DEFAULT_TIMES } from './plan/certificate-times.js';

const DAY_MS = 86_400_000;
const NAMES = ['webhook.system.svc', '10.0.0.1'];
const ACCEPTED = { names: 'DNS:webhook.system.svc, IP Address:10.0.0.1' };
const NOW = Date.now();

let secrets: MemorySecrets;
let steps: KeptStep[];

beforeEach(() => {
  secrets = new MemorySecrets();
  steps = [];
});

function keeper(names = NAMES): CertificateKeeper {
  return new CertificateKeeper({
    secrets,
    reader: certificateReader,
    issuer: certificateIssuer,
    authoritySecret: 'ca',
    servingSecret: 'tls',
    authorityName: 'test',
    names,
    times: DEFAULT_TIMES,
    onStep: (step) => steps.push(step),
  });
}

const kinds = () => steps.map((step) => `${step.of}: ${step.kind}${'reason' in step ? ` (${step.reason})` : ''}`);

/** Checks, with the TLS library that serves it, that a client which trusts only `trusted` accepts the certificate. */
async function handshake({ pair }: KeptCertificate, trusted: string): Promise<{ names: string } | { refused: string }> {
  const server = createServer({
    cert: pair.certificate,
    key: pair.key,
    ca: trusted,
    requestCert: true,
    rejectUnauthorized: true,
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  // Both sides show it: it is for servers and clients.
  const client: TLSSocket = connect({
    host: '127.0.0.1',
    port,
    servername: NAMES[0] ?? '',
    ca: trusted,
    cert: pair.certificate,
    key: pair.key,
  });
  try {
    return await new Promise<{ names: string } | { refused: string }>((resolve) => {
      client.once('secureConnect', () => resolve({ names: client.getPeerCertificate().subjectaltname ?? '' }));
      client.once('error', (error: NodeJS.ErrnoException) => resolve({ refused: error.code ?? error.message }));
    });
  } finally {
    client.destroy();
    server.close();
  }
}

describe('CertificateKeeper', () => {
  it('makes an authority and a certificate that TLS accepts, and then writes nothing', async () => {
    const kept = await keeper().keep(NOW);
    expect(kinds()).toEqual(['authority: create (missing)', 'certificate: issue (missing)']);
    expect(await handshake(kept, kept.trusted)).toEqual(ACCEPTED);
    expect(await keeper().keep(NOW)).toEqual(kept);
    expect(secrets.writes).toBe(2);
    expect(secrets.data('tls')).toEqual({ 'tls.crt': kept.pair.certificate, 'tls.key': kept.pair.key, 'ca.crt': kept.trusted });
    expect(new X509Certificate(kept.trusted).ca).toBe(true);
  });

  it('a certificate of another authority is refused', async () => {
    const kept = await keeper().keep(NOW);
    secrets = new MemorySecrets();
    const other = await keeper().keep(NOW);
    expect(await handshake(kept, other.trusted)).toEqual({ refused: expect.stringMatching(/^UNABLE_TO_/) as string });
  });

  it('law: when replicas start at the same moment, one creates the authority, and all serve with it', {
    timeout: 60_000,
  }, async () => {
    const replicas = fc.integer({ min: 2, max: 5 });
    await fc.assert(
      fc.asyncProperty(replicas, fc.scheduler(), async (count, scheduler) => {
        secrets = new MemorySecrets();
        const memory = new MemorySecrets();
        secrets.read = scheduler.scheduleFunction(async (name) => await memory.read(name));
        secrets.write = scheduler.scheduleFunction(async (name, before, data) => await memory.write(name, before, data));
        const all = Promise.all(Array.from({ length: count }, async () => await keeper().keep(NOW)));
        const results = await scheduler.waitFor(all);
        expect(new Set(results.map(({ trusted }) => trusted)).size).toBe(1);
        expect(new Set(results.map(({ pair }) => pair.certificate)).size).toBe(1);
        expect(memory.writes).toBe(2);
      }),
      { numRuns: 20 },
    );
  });

  it('rotates: published, then issuing, then trusted until it expires; each certificate is accepted by clients from before and after', async () => {
    const first = await keeper().keep(NOW);
    steps = [];
    const due = NOW + 0.6 * 730 * DAY_MS;
    const published = await keeper().keep(due);
    expect(kinds()).toEqual(['authority: add-successor', 'certificate: issue (expired)']);
    expect(published.trusted).toContain(first.trusted);
    expect(published.trusted.match(/BEGIN/g)).toHaveLength(2);
    steps = [];
    const promoted = await keeper().keep(published.checkAtMs);
    expect(kinds()).toEqual(['authority: promote-successor', 'certificate: issue (issued-by-another-authority)']);
    expect(certificateReader.isIssuedBy(promoted.pair.certificate, first.trusted)).toBe(false);
    // Clients that have not seen the promotion trust the new certificate, and clients that have seen it trust the old one.
    const [before, after] = [published.trusted, promoted.trusted].map((bundle) =>
      bundle.match(/-----BEGIN[^-]+-----[^-]+/g)?.toSorted(),
    );
    expect(after).toEqual(before);
    steps = [];
    const later = await keeper().keep(NOW + 731 * DAY_MS);
    expect(later.trusted).not.toContain(first.trusted);
  });

  it.each<[string, (data: () => MemorySecrets) => void, string[]]>([
    [
      'the authority is deleted',
      (of) => of().secrets.delete('ca'),
      ['authority: create (missing)', 'certificate: issue (issued-by-another-authority)'],
    ],
    ['the certificate is deleted', (of) => of().secrets.delete('tls'), ['certificate: issue (missing)']],
    [
      'the key of the authority is cut out',
      (of) => of().edit('ca', { 'issuer.key': undefined }),
      ['authority: create (key-missing)', 'certificate: issue (issued-by-another-authority)'],
    ],
    [
      'the key of the authority is cut in half',
      (of) => of().edit('ca', { 'issuer.key': of().data('ca')['issuer.key']?.slice(0, 60) }),
      ['authority: create (key-unreadable)', 'certificate: issue (issued-by-another-authority)'],
    ],
    ['the trusted certificates are edited', (of) => of().edit('ca', { 'ca.crt': 'nothing' }), ['authority: republish']],
    [
      'the trusted certificates beside the certificate are edited',
      (of) => of().edit('tls', { 'ca.crt': '' }),
      ['certificate: republish'],
    ],
    [
      'the key of the certificate is that of the authority',
      (of) => of().edit('tls', { 'tls.key': of().data('ca')['issuer.key'] }),
      ['certificate: issue (key-of-another-certificate)'],
    ],
    [
      'the certificate takes the place of the authority',
      (of) => of().edit('ca', { 'issuer.crt': of().data('tls')['tls.crt'], 'issuer.key': of().data('tls')['tls.key'] }),
      ['authority: create (not-an-authority)', 'certificate: issue (issued-by-another-authority)'],
    ],
    [
      'all of it is replaced by other text',
      (of) => of().put('ca', { hello: 'world' }),
      ['authority: create (missing)', 'certificate: issue (issued-by-another-authority)'],
    ],
  ])('repairs manual changes: %s', async (_, edit, expected) => {
    await keeper().keep(NOW);
    steps = [];
    edit(() => secrets);
    const kept = await keeper().keep(NOW);
    expect(kinds()).toEqual(expected);
    expect(await handshake(kept, kept.trusted)).toEqual(ACCEPTED);
    const { writes } = secrets;
    await keeper().keep(NOW);
    expect(secrets.writes).toBe(writes);
  });

  it('if only the key of the authority is lost, the certificates that it signed stay trusted', async () => {
    const first = await keeper().keep(NOW);
    secrets.edit('ca', { 'issuer.key': undefined });
    const healed = await keeper().keep(NOW);
    expect(healed.trusted).toContain(first.trusted);
    expect(await handshake(first, healed.trusted)).toEqual(ACCEPTED);
  });

  it('nothing is due before the announced time, and something is due then', async () => {
    let { checkAtMs } = await keeper().keep(NOW);
    for (let round = 0; round < 8; round++) {
      const { writes } = secrets;
      await keeper().keep(checkAtMs - 1);
      expect(secrets.writes, `round ${round}, before`).toBe(writes);
      const next = await keeper().keep(checkAtMs);
      expect(secrets.writes, `round ${round}, then`).toBeGreaterThan(writes);
      ({ checkAtMs } = next);
    }
  });

  it('a clock that is behind changes nothing, and the existing certificate is served', async () => {
    const kept = await keeper().keep(NOW);
    const renewed = await keeper().keep(NOW + 55 * DAY_MS);
    expect(renewed.pair).not.toEqual(kept.pair);
    const { writes } = secrets;
    expect(await keeper().keep(NOW - 30 * DAY_MS)).toMatchObject({ pair: renewed.pair, problem: 'clock-behind' });
    expect(secrets.writes).toBe(writes);
  });

  it('new names cause a new certificate; a Secret that others change all the time is an error that names both Secrets', async () => {
    await keeper().keep(NOW);
    steps = [];
    const { pair } = await keeper(['other.system.svc']).keep(NOW);
    expect(new X509Certificate(pair.certificate).subjectAltName).toBe('DNS:other.system.svc');
    secrets.write = async () => 'conflict';
    const contested = keeper(['third.system.svc']).keep(NOW);
    await expect(contested).rejects.toThrow(CertificatesContestedError);
    await expect(contested).rejects.toThrow('Secrets ca and tls are changed all the time by others');
  });

  it('reports contain no key', async () => {
    await keeper().keep(NOW);
    expect(JSON.stringify(steps)).not.toContain('KEY');
  });
});
