/** How a connection becomes a WebSocket (RFC 6455, section 4.2). Pure. */
import { createHash } from 'node:crypto';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const textOf = (headers: Headers, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : (value ?? []).join(', ');
};

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

export function isWebSocket(headers: Headers): boolean {
  const isUpgrade = listOf(textOf(headers, 'connection').toLowerCase()).includes('upgrade');
  return isUpgrade && textOf(headers, 'upgrade').toLowerCase() === 'websocket';
}

/** In the order in which the client likes them. */
export function protocolsOf(headers: Headers): readonly string[] {
  return listOf(textOf(headers, 'sec-websocket-protocol'));
}

/** What is wrong with a request that wants to become one. */
export function handshakeProblem(headers: Headers): string | undefined {
  if (textOf(headers, 'sec-websocket-version') !== '13') return 'only version 13 of WebSocket is served';
  const key = textOf(headers, 'sec-websocket-key');
  return Buffer.from(key, 'base64').length === 16 ? undefined : 'the key of the WebSocket handshake is none';
}

/** The bytes that answer it. */
export function acceptText(headers: Headers, protocol: string): string {
  const key = textOf(headers, 'sec-websocket-key');
  const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
