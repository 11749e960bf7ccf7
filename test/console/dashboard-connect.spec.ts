/** An agent asks a person in the console: sign-in, decision, list and end. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentMemory, connectAgain, startPublicHub } from '../src/agents/oauth-agent.js';
import { adminEmail, password } from '../src/api/people.js';
import {
  type ConsolePage,
  isChromiumInstalled,
  openBrowser,
  openConsole,
  seriousViolations,
} from '../src/console/console-browser.js';
import { endConsoleStory } from '../src/console/end-console-story.js';
import type { HubProcess } from '../src/hub/hub-process.js';

describe.skipIf(!isChromiumInstalled())('an agent that asks in the console', () => {
  let hub: HubProcess;
  let browser: Browser;
  let console: ConsolePage;
  let page: Page;
  let program: Server | undefined;
  let memory: AgentMemory;

  beforeAll(async () => {
    [hub, browser] = await Promise.all([startPublicHub({ FLOTILLA_ADMIN_PASSWORD: password }), openBrowser()]);
    console = await openConsole(browser, hub, { key: null });
    page = console.page;
    // The program of the agent, to which the browser goes in the end.
    const opened = createServer((_request, response) => response.end('Back at the agent'));
    program = opened;
    await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
    const { port } = opened.address() as AddressInfo;
    memory = new AgentMemory('Garden helper', `http://127.0.0.1:${port}/callback`);
  });

  afterAll(async () => {
    program?.closeAllConnections();
    program?.close();
    await endConsoleStory({ hub, browser, consoles: [] });
  });

  it('is allowed by a person who signs in on the way, and is listed', async () => {
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', hub.httpUrl), { authProvider: memory });
    await expect(new Client({ name: 'story', version: '1.0.0' }).connect(transport)).rejects.toThrow();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/graphql', async (route) => {
      const { operationName } = route.request().postDataJSON() as { operationName: string };
      if (operationName === 'Groups') await held;
      await route.continue();
    });
    await page.goto(memory.asked?.href ?? '');
    await page.getByRole('textbox', { name: 'E-mail' }).fill(adminEmail);
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Connect Garden helper?' }).waitFor();
    await page.getByText('localhost', { exact: true }).waitFor();
    // It says so only once it has read the groups.
    const noGroups = page.getByText('There are no groups yet.');
    expect(await noGroups.count()).toBe(0);
    release();
    await noGroups.waitFor();
    expect(await page.getByRole('radiogroup', { name: 'Devices' }).getByRole('radio').count()).toBe(2);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Run jobs on many devices' }).uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Back at the agent').waitFor();
    await transport.finishAuth(new URL(page.url()).searchParams);
    expect(memory.held?.scope).toBe('DEVICES_READ TOOLS_CALL JOBS_READ EVENTS_READ');
    await (await connectAgain(hub, memory)).close();
    await console.visit('/access');
    const agents = page.getByRole('region', { name: 'Connected agents' });
    await agents.getByText('Garden helper').waitFor();
    await agents.getByText('DEVICES_READ TOOLS_CALL JOBS_READ EVENTS_READ', { exact: true }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('is disconnected there', async () => {
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No connected agents').waitFor();
    await expect(connectAgain(hub, memory)).rejects.toThrow();
  });

  it('gets a decision by a custom scheme, and the page says what to do next', async () => {
    const app = new AgentMemory('Desk app', 'desk-app://hub/callback');
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', hub.httpUrl), { authProvider: app });
    await expect(new Client({ name: 'story', version: '1.0.0' }).connect(transport)).rejects.toThrow();
    await page.goto(app.asked?.href ?? '');
    // A sign-out here keeps the request, so that another person can decide.
    await page
      .getByRole('button', { name: /Account and appearance/ })
      .first()
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill(adminEmail);
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('desk-app:', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Return to Desk app').waitFor();
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('is shown as failed where its request is wrong', async () => {
    await page.goto('/oauth/authorize?client_id=unknown&response_type=code');
    await page.getByText('The agent cannot be connected').waitFor();
    await page.getByText('invalid_client').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });
});
