/** Run as a child: starts a control plane, tells its processes, and then does what its argument says instead of stopping it. */
import { startKube } from './kube.ts';

const kube = await startKube();
process.send?.([kube.etcd.pid, kube.apiserver.pid]);
// `forget`: nothing is left to do. `fail`: as a test that throws. Else it waits to be killed.
if (process.argv[2] === 'fail') throw new Error('failed on purpose');
if (process.argv[2] === 'forget') process.disconnect();
else process.on('disconnect', () => process.exit());
