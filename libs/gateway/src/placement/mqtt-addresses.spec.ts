import { describe, expect, it } from 'vitest';
import { mqttAddressesOf, mqttEndpointOf, publicMqttProblem } from './mqtt-addresses.js';

describe('FLOTILLA_PUBLIC_MQTT', () => {
  it('lists addresses with ports and weights; the port of TLS and the weight 1 are the defaults', () => {
    expect(mqttAddressesOf('mqtt.example.net, 10.0.0.7:1883=3,west.example.net=2')).toEqual([
      { endpoint: 'mqtt.example.net:8883', weight: 1 },
      { endpoint: '10.0.0.7:1883', weight: 3 },
      { endpoint: 'west.example.net:8883', weight: 2 },
    ]);
    expect(mqttAddressesOf(undefined)).toEqual([]);
  });

  it.each(['mqtt.example.net', 'mqtt.example.net:1883', 'a:1=1,b:65535=1000', '192.168.1.20:1883', '7.example.net'])(
    'may be %j',
    (text) => expect(publicMqttProblem(text)).toBeUndefined(),
  );

  it.each([
    ['mqtt://hub', 'not "mqtt://hub"'],
    ['hub:0', 'not "hub:0"'],
    ['hub:65536', 'not "hub:65536"'],
    ['hub=0', 'not "hub=0"'],
    ['hub=1001', 'not "hub=1001"'],
    ['hub=x', 'not "hub=x"'],
    ['[::1]:1883', 'not "[::1]:1883"'],
    ['99999999999', 'not "99999999999"'],
    ['10.0.0.256:1883', 'not "10.0.0.256:1883"'],
    ['10.0.7', 'not "10.0.7"'],
    ['good,bad:', 'not "bad:"'],
    ['hub,hub:8883=2', 'hub:8883 twice'],
    [Array.from({ length: 65 }, (_, index) => `hub-${index}`).join(','), 'at most 64 addresses'],
  ])('may not be %j', (text, problem) => expect(publicMqttProblem(text)).toContain(problem));
});

describe('FLOTILLA_OWN_MQTT', () => {
  it('is one address without a weight', () => {
    expect(mqttEndpointOf('hub')).toBe('hub:8883');
    expect(mqttEndpointOf('hub:1883')).toBe('hub:1883');
    for (const text of ['hub=1', 'a,b', 'mqtt://hub', '']) expect(mqttEndpointOf(text)).toBeUndefined();
  });
});
