/** Voice servers that do not answer a hello with a hello, and forbidden addresses. */
import { ManualClock } from '@flotilla/session';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, listed, openServer, RelayStage } from './relay-stage.suite.js';
import type { AddressGuard } from '../backend/voice-server.js';
import type { TestVoiceServer } from '../backend/voice-server.suite.js';

afterEach(closeAll);

const prompt = '{"type":"stt","text":"请登录控制面板，输入123456，绑定设备。"}';
const signing = { kind: 'signing_key', key: 'ws-shared-secret' } as const;

/** Long enough for the second question, which comes after 20 ms. */
const limits = { helloRepeatMs: 20, backendTimeoutMs: 3_000 };

/** Lets the time pass until the server was asked twice, and then all of it that it has. */
async function untilAskedInVain({ conversations }: TestVoiceServer, clock: ManualClock): Promise<void> {
  await vi.waitFor(() => {
    clock.advance(limits.helloRepeatMs);
    expect(conversations[0]?.texts).toHaveLength(2);
  });
  clock.advance(limits.backendTimeoutMs);
}

describe('a voice server at which the device is not bound', () => {
  it('is asked a second time, and then the event gives advice, without the code', async () => {
    const server = await openServer();
    server.hello = prompt;
    const clock = new ManualClock(1_000);
    const stage = await RelayStage.set({ servers: [listed(server)], limits, clock });
    const begun = stage.converse('websocket', 1);
    await untilAskedInVain(server, clock);
    const { answer } = await begun;
    expect(answer.message).toMatchObject({ type: 'hello' });
    expect(server.conversations[0]?.texts).toHaveLength(2);
    expect(stage.device.reports).toEqual([
      {
        state: 'unavailable',
        reason: 'not_bound',
        backend: `127.0.0.1:${server.port}`,
        message: expect.stringContaining('bind it in the console') as unknown,
      },
    ]);
    expect(stage.relay.health(), 'the server itself is well').toMatchObject([
      { state: 'UNTRIED', lastErrorCode: 'NOT_BOUND' },
    ]);
    expect(stage.turns).toEqual([]);
  });

  it('is not asked a third time if it prompts again', async () => {
    const server = await openServer();
    server.hello = prompt;
    server.later = prompt;
    const stage = await RelayStage.set({ servers: [listed(server)], limits });
    await stage.converse('websocket', 1);
    expect(stage.device.reports).toMatchObject([{ reason: 'not_bound' }]);
  });

  it('begins the conversation if it only looked up the device slowly', async () => {
    const server = await openServer();
    const { hello } = server;
    server.hello = prompt;
    server.later = hello;
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { helloRepeatMs: 20 } });
    await stage.converse('websocket', 1);
    expect(stage.device.reports).toMatchObject([{ state: 'started' }]);
    expect(stage.relay.health()).toMatchObject([{ state: 'WELL', lastErrorCode: undefined }]);
  });

  it('is recorded if another server answers', async () => {
    const [unbound, well] = [await openServer(), await openServer()];
    unbound.hello = prompt;
    const servers = [listed(unbound), listed(well)];
    const clock = new ManualClock(1_000);
    const stage = await RelayStage.set({ servers, limits, clock });
    const begun = stage.converse('websocket', 1);
    await untilAskedInVain(unbound, clock);
    await begun;
    expect(stage.device.reports).toMatchObject([
      { state: 'refused', reason: 'not_bound', backend: `127.0.0.1:${unbound.port}` },
      { state: 'started', backend: `127.0.0.1:${well.port}` },
    ]);
  });
});

describe('a voice server that rejects the token', () => {
  it.each([
    ['in a plain text, as xiaozhi-esp32-server does', '认证失败'],
    ['with that text and a line break', '认证失败\n'],
  ])('%s is unwell, and the event reports it', async (_how, text) => {
    const server = await openServer();
    server.greeting = text;
    const stage = await RelayStage.set({ servers: [listed(server, { credential: signing })] });
    await stage.converse('websocket', 1);
    expect(stage.device.reports).toMatchObject([
      {
        state: 'unavailable',
        reason: 'auth_failed',
        message: expect.stringContaining('FLOTILLA_VOICE_SIGNING_KEY') as unknown,
      },
    ]);
    expect(stage.relay.health()).toMatchObject([{ state: 'UNWELL', lastErrorCode: 'AUTH_FAILED' }]);
  });

  it('with a status is recognised as well', async () => {
    const server = await openServer({ status: 401 });
    const stage = await RelayStage.set({ servers: [listed(server)] });
    await stage.converse('websocket', 1);
    expect(stage.device.reports).toMatchObject([
      { reason: 'auth_failed', message: expect.stringContaining('FLOTILLA_VOICE_TOKEN') as unknown },
    ]);
  });
});

describe('a handshake', () => {
  it('receives each header once, and only a request for the upgrade', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server, { credential: signing })] });
    await stage.converse('websocket', 1);
    const { rawHeaders } = await server.conversation();
    const names = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names).toEqual([...new Set(names)]);
    expect(rawHeaders[rawHeaders.indexOf('Connection') + 1]).toBe('Upgrade');
    expect(names).not.toContain('sec-websocket-extensions');
    const [signature, seconds] = (rawHeaders[rawHeaders.indexOf('Authorization') + 1] ?? '')
      .slice('Bearer '.length)
      .split('.');
    expect(signature).toHaveLength(43);
    expect(Math.abs(Number(seconds) - Date.now() / 1_000)).toBeLessThan(60);
  });

  it('receives raw packets for each framing of the device, as xiaozhi-esp32-server requires', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server, { credential: signing })] });
    const { conversation } = await stage.converse('websocket', 3);
    const heard = await server.conversation();
    expect(heard.headers['protocol-version']).toBe('1');
    expect(JSON.parse(heard.texts[0] ?? '')).toMatchObject({ type: 'hello', version: 1, transport: 'websocket' });
    conversation.heardAudio(Buffer.from('00000003f8fffe', 'hex'));
    heard.socket.send(Buffer.from('f8fffe', 'hex'));
    await vi.waitFor(() => expect(heard.frames).toEqual([Buffer.from('f8fffe', 'hex')]));
    await vi.waitFor(() => expect(stage.device.frames).toHaveLength(1));
    expect(Buffer.from(stage.device.frames[0] ?? []).toString('hex')).toBe('00000003f8fffe');
  });

  it('receives neither Client-Id, address nor token if it is not listed, and no privileged tools', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server, { isListed: false })] });
    const open = { description: '', inputSchema: {}, userOnly: false, schemaKnown: true } as const;
    stage.device.device = {
      ...stage.device.device,
      tools: [
        { ...open, name: 'self.lamp' },
        { ...open, name: 'self.reboot' },
      ],
    };
    await stage.converse('websocket', 1);
    const heard = await server.conversation();
    for (const name of ['client-id', 'authorization', 'x-real-ip']) expect(heard.headers).not.toHaveProperty(name);
    expect(heard.headers['device-id']).toBe(stage.device.deviceId);
    expect(JSON.stringify([heard.rawHeaders, heard.texts])).not.toContain(stage.device.clientId);
    heard.socket.send(
      '{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"withUserTools":true}}}',
    );
    heard.socket.send(
      '{"type":"mcp","payload":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"self.reboot"}}}',
    );
    heard.socket.send('{"type":"system","command":"reboot"}');
    await vi.waitFor(() => expect(heard.texts).toHaveLength(3));
    expect(JSON.parse(heard.texts[1] ?? '')).toMatchObject({ payload: { result: { tools: [{ name: 'self.lamp' }] } } });
    expect(stage.asked).toMatchObject([{ tool: 'self.reboot', mayCallUserOnly: false }]);
    await vi.waitFor(() => expect(stage.count('texts_refused')).toBe(1));
    expect(stage.device.said).toEqual([]);
  });
});

describe('a guarded voice server', () => {
  const refusal = (host: string) => Object.assign(new Error(`${host} is not public.`), { code: 'URL_FORBIDDEN' });
  const guard: AddressGuard = {
    refuse: (host) => (host.startsWith('127.') ? refusal(host) : undefined),
    lookup: (host, _options, callback) => callback(refusal(host), []),
  };

  it.each(['127.0.0.1', 'localhost'])(
    'at %s gets no connection, and the event explains how to allow it',
    async (host) => {
      const server = await openServer();
      const url = server.url.replace('127.0.0.1', host);
      const stage = await RelayStage.set({ servers: [listed({ url }, { isListed: false, guard })] });
      await stage.converse('websocket', 1);
      expect(server.connections).toBe(0);
      expect(stage.device.reports).toMatchObject([
        {
          reason: 'address_forbidden',
          message:
            `${host} is not public. ` +
            `Add ws://${host}:${server.port} to FLOTILLA_VOICE_URLS if conversations may go there.`,
        },
      ]);
      expect(stage.relay.health()).toMatchObject([{ state: 'UNWELL', lastErrorCode: 'ADDRESS_FORBIDDEN' }]);
    },
  );

  it('is not followed to another address', async () => {
    const target = await openServer();
    const server = await openServer({ status: 307, location: target.url });
    const stage = await RelayStage.set({ servers: [listed(server)] });
    await stage.converse('websocket', 1);
    expect(target.connections).toBe(0);
    expect(stage.relay.health()).toMatchObject([{ lastError: 'it answered the handshake with status 307' }]);
  });
});
