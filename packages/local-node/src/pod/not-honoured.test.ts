import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notHonoured } from './not-honoured.ts';
import { podOf } from './pod-testing.ts';

test('what a pod asks for in vain is named, and nothing else', () => {
  const hostAliases = [{ ip: '10.0.0.1', hostnames: ['a'] }];
  const pod = podOf({
    shareProcessNamespace: true,
    hostAliases,
    volumes: [
      { name: 'plain', emptyDir: {} },
      { name: 'small', emptyDir: { sizeLimit: '1Mi', medium: 'Memory' } },
      { name: 'trust', projected: { sources: [{ clusterTrustBundle: { path: 'ca' } }] } },
    ],
    initContainers: [{ name: 'init', restartPolicy: 'Always', volumeDevices: [{ name: 'd' }] }],
    containers: [
      {
        name: 'main',
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart' }],
        env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'a' } } }],
      },
    ],
  });
  const always = [
    'spec.shareProcessNamespace',
    'spec.volumes[small].emptyDir.sizeLimit',
    'spec.volumes[small].emptyDir.medium',
    'spec.volumes[trust].projected.sources.clusterTrustBundle',
    'spec.initContainers[init].volumeDevices',
    'spec.containers[main].env[A].fileKeyRef',
    'spec.containers[main].restartPolicyRules',
  ];
  assert.deepEqual(notHonoured(pod, true), always);
  assert.deepEqual(
    notHonoured(pod, false).filter((path) => !always.includes(path)),
    ['spec.hostAliases'],
  );
  assert.deepEqual(notHonoured(podOf({ hostNetwork: true, hostAliases }), true), ['spec.hostAliases']);
  assert.deepEqual(notHonoured(podOf(), true), []);
});
