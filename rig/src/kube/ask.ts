/** One small request without a kept connection: whether a server answers, and what etcd is told. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface Question {
  readonly url: string;
  /** PEM texts, for https. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** Posted as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export function ask({ url, tls, body, timeoutMs = 2_000 }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      timeout: timeoutMs,
      ...tls,
    });
    request.on('timeout', () => request.destroy(new Error(`${url}: no answer in ${timeoutMs} ms`)));
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
