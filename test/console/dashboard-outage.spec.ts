/** An open page of the console while PostgreSQL is away: it shows what happens afterwards. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, isChromiumInstalled, openBrowser, openConsole } from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import { ask } from '../src/api/graphql-client.js';
import { eventually } from '../src/eventually.js';
import { type HubProcess, startHub } from '../src/hub/hub-process.js';
import { openSeverableHub, type SeverableHub } from '../src/hub/severable-hub.js';
import { openSeverablePostgres, type SeverablePostgres } from '../src/hub/severable-postgres.js';
import { jobOf, steerJob } from '../src/jobs/job-api.js';

/**
 * The hub logs this for each new socket, and every 5 s for an open one. Job subscriptions look as
 * often.
 */
const LOOK_FAILED = 'GraphQL socket could not be looked at';

describe.skipIf(!isChromiumInstalled())('the page of a job, open while PostgreSQL is away', () => {
  let postgres: SeverablePostgres;
  let hub: HubProcess;
  let road: SeverableHub;
  let browser: Browser;
  let console: ConsolePage;
  let jobId: string;

  beforeAll(async () => {
    postgres = await openSeverablePostgres();
    hub = await startHub({ env: { DATABASE_URL: postgres.url } });
    browser = await openBrowser();
    road = await openSeverableHub(hub);
    const device = '{ deviceId: "02:00:00:00:00:01", dialect: XIAOZHI }';
    await ask(hub, `mutation { registerDevice(input: ${device}) { userErrors { message } } }`);
    jobId = await jobOf(hub, { tool: 'self.get_device_status', arguments: {}, devices: { all: true } }, 'outage');
    console = await openConsole(browser, hub, { url: road.httpUrl });
    await console.visit(`/jobs/${jobId}`);
    await shows('Running');
  });
  afterAll(async () => {
    await Promise.allSettled([postgres?.restore()]);
    try {
      await endConsoleStory({ hub, browser, consoles: [console] });
    } finally {
      await Promise.allSettled([road?.close(), postgres?.close()]);
    }
  });

  const shows = (state: string) => console.page.getByRole('status').getByText(state, { exact: true }).first().waitFor();
  const failedLooks = () => hub.log().split(LOOK_FAILED).length - 1;
  const looksFail = async (times: number) => {
    const before = failedLooks();
    await eventually(failedLooks, (count) => count >= before + times);
  };
  const isReady = async () => (await fetch(`${hub.httpUrl}/health/ready`)).status === 200;

  it('shows a change after the outage, because its subscription goes on', async () => {
    await postgres.cut();
    await looksFail(2);
    await postgres.restore();
    await eventually(isReady, Boolean);
    expect((await steerJob(hub, 'pauseJob', jobId)).userErrors).toEqual([]);
    await shows('Paused');
  });

  it('shows a change after an outage in which it had to connect again', async () => {
    await postgres.cut();
    await road.cut();
    await road.restore();
    await looksFail(1);
    await postgres.restore();
    await eventually(isReady, Boolean);
    expect((await steerJob(hub, 'cancelJob', jobId)).userErrors).toEqual([]);
    await shows('Cancelled');
    await console.page.getByText('The live connection to the hub is lost').waitFor({ state: 'detached' });
  });

  it('reads once what is opened after it', async () => {
    const { page } = console;
    let reads = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes('query EnrolmentLinks')) reads++;
    });
    const open = async (name: string) => {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    };
    const answered = page.waitForResponse((answer) => /EnrolmentLinks/.test(answer.request().postData() ?? ''));
    await open('Enrolments');
    await answered;
    await open('Audit');
    await open('Events');
    expect(reads).toBe(1);
  });
});
