import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { Json, JsonObject } from '../api-object.js';

/** A call as transcripts keep it. */
export interface WebhookCall extends JsonObject {
  readonly path: string;
  readonly method: string;
  readonly contentType: string;
  readonly accept: string;
  readonly body: JsonObject;
}

/** The behaviour of a webhook: it answers with a response (its uid is filled in), with any text, or not at all. */
export type WebhookBehaviour =
  | { readonly kind: 'response'; readonly response: JsonObject }
  | { readonly kind: 'text'; readonly status: number; readonly contentType: string; readonly body: string }
  | { readonly kind: 'hang' };

const ALLOW: WebhookBehaviour = { kind: 'response', response: { allowed: true } };

/** The admission webhooks of the transcripts, served over TLS: `/m` mutates, `/v` validates. */
export class RecordedWebhook {
  readonly hostPort: string;
  /** As `caBundle` has it: PEM in base64. */
  readonly caBundle: string;
  mutator: WebhookBehaviour = ALLOW;
  validator: WebhookBehaviour = ALLOW;
  private readonly server: Server;
  private received: WebhookCall[] = [];

  private constructor(server: Server, certificate: string) {
    this.server = server;
    this.hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.caBundle = Buffer.from(certificate).toString('base64');
  }

  static async start(): Promise<RecordedWebhook> {
    const { certificate, key } = await selfSigned();
    const server = createServer({ cert: certificate, key });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const webhook = new RecordedWebhook(server, certificate);
    server.on('request', (request, response) => void webhook.serve(request, response));
    return webhook;
  }

  allowEverything(): void {
    this.mutator = ALLOW;
    this.validator = ALLOW;
  }

  /** The calls since the last time. */
  takeCalls(): readonly WebhookCall[] {
    const calls = this.received;
    this.received = [];
    return calls;
  }

  /** From now on connections are refused. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { 'content-type': contentType = '', accept = '' } = request.headers;
    const { url: path = '', method = '' } = request;
    const call = { path, method, contentType, accept, body: JSON.parse(text) as JsonObject };
    this.received.push(call);
    const answer = this.answerTo(call);
    if (answer === undefined) return;
    response.writeHead(answer.status, { 'content-type': answer.contentType });
    response.end(answer.body);
  }

  private answerTo(call: WebhookCall): { status: number; contentType: string; body: string } | undefined {
    const behaviour = call.path.startsWith('/m') ? this.mutator : this.validator;
    switch (behaviour.kind) {
      case 'response': {
        const { uid } = call.body['request'] as { uid: string };
        const body: Json = {
          kind: 'AdmissionReview',
          apiVersion: 'admission.k8s.io/v1',
          response: { uid, ...behaviour.response },
        };
        return { status: 200, contentType: 'application/json', body: JSON.stringify(body) };
      }
      case 'text':
        return behaviour;
      case 'hang':
        return undefined;
    }
  }
}

async function selfSigned(): Promise<{ certificate: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=webhook of the transcripts',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    certificate: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  };
}
