/** A node in a process of its own, which can be killed. Arguments: the server's address, the token, the node's folder. */
import { dirname, join } from 'node:path';
import { networkTransport } from '@reeve/kube';
import { systemPorts } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { plainDriver } from '../driver/plain.ts';
import { systemHost } from '../host/system-host.ts';
import { hostImages } from '../image/images.ts';
import { AddressPool } from './addresses.ts';
import { LocalNode } from './local-node.ts';

const [url = '', token = '', folder = ''] = process.argv.slice(2);
const tls = { ca: undefined, certificate: undefined, key: undefined, serverName: undefined, insecure: false };
const identity = { headers: { authorization: `Bearer ${token}` }, tls };
const access = { server: new URL(url), identity: async () => identity, rejected: async () => false };
const { transport } = networkTransport(access, systemPorts.clock);
const host = systemHost();
const node = await LocalNode.open(
  { ...systemPorts, host },
  {
    folder,
    transport,
    addresses: new AddressPool(host.files, systemPorts.random, join(dirname(folder), 'addresses')),
    images: hostImages,
    drivers: [plainDriver],
    sandboxRemedy: '',
    facts: {
      name: 'here',
      labels: {},
      taints: [],
      capacity: { pods: '110' },
      address: '127.0.0.1',
      apiServer: undefined,
      hostPathRoots: [],
    },
  },
);
await new Manager(systemPorts, { name: 'child', transport }).add(node).run(new AbortController().signal);
