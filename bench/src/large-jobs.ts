/** Bench (f): what a job of 100,000 targets costs. [jobs §18] */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hubNodeOptions } from '@flotilla/test/hub/hub-process';
import type { ChildNews, JobScale } from './bench-messages.js';
import type { Figure } from './report.js';

export async function benchLargeJobs(): Promise<readonly Figure[]> {
  const { prepareMs, perSecond, commits, memoryBytes, cancelMs } = await scale();
  const job = 'job of 100,000 targets';
  return [
    { name: `${job}, prepared`, value: prepareMs / 1_000, unit: 's', atMost: 5 },
    { name: `${job}, without sockets`, value: perSecond, unit: 'targets/s' },
    { name: `${job}, commits of PostgreSQL`, value: commits, unit: '', atMost: 1_500 },
    { name: `${job}, growth of memory`, value: memoryBytes / 2 ** 20, unit: 'MB', atMost: 50 },
    { name: `${job}, none sent, cancelled`, value: cancelMs / 1_000, unit: 's', atMost: 2 },
  ];
}

function scale(): Promise<JobScale> {
  const child = fork(fileURLToPath(new URL('job-at-scale.js', import.meta.url)), {
    stdio: ['ignore', 2, 2, 'ipc'],
    execArgv: [...hubNodeOptions],
  });
  return new Promise((resolve, reject) => {
    let found: JobScale | undefined;
    child.on('message', (news: ChildNews) => (found = news.scale));
    child.once('exit', () =>
      found === undefined ? reject(new Error('The job at scale measured nothing.')) : resolve(found),
    );
  });
}
