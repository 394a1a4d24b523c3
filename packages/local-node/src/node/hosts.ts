/** The pod's own `/etc/hosts`. */
import { join } from 'node:path';
import type { Mount } from '../driver/driver.ts';
import type { StoredPod } from '../pod/view.ts';

export function hostsText({ metadata, spec }: StoredPod, address: string, names: readonly string[]): string {
  const hostname = spec?.hostname ?? metadata.name;
  const domain = `${spec?.subdomain}.${metadata.namespace}.svc.cluster.local`;
  const own = spec?.subdomain === undefined ? hostname : `${hostname}.${domain} ${hostname}`;
  const local = ['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost ip6-loopback'];
  const aliases = (spec?.hostAliases ?? []).map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join(' ')}`);
  // What the pod says itself comes before what it is told of others: the first line with a name counts.
  return [...local, `${address}\t${own}`, ...aliases, ...names, ''].join('\n');
}

export const hostsPath = (podFolder: string): string => join(podFolder, 'hosts');

export function hostsMount(podFolder: string): Mount {
  return { source: hostsPath(podFolder), target: '/etc/hosts', isReadOnly: false, isFile: true };
}
