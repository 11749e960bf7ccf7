/**
 * Imported first (`node --import`), it notes where a process connects or sends to: a host, an
 * address or the path of a socket in each line of the file that RECORDED_CONNECTIONS names.
 */
import { Socket as UdpSocket } from 'node:dgram';
import { appendFileSync } from 'node:fs';
import { Socket } from 'node:net';

const file = process.env['RECORDED_CONNECTIONS'];
const { connect } = Socket.prototype;
const { send } = UdpSocket.prototype;

Socket.prototype.connect = function (...args) {
  note(targetOf(args));
  return connect.apply(this, args);
};

UdpSocket.prototype.send = function (message, ...rest) {
  note(rest.find((each) => typeof each === 'string') ?? 'localhost');
  return send.call(this, message, ...rest);
};

function note(target) {
  appendFileSync(file, `${target}\n`);
}

/** Callers give options, a port and a host, or a path; Node itself gives these in a list. */
function targetOf(args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === 'object') return first.path ?? first.host ?? 'localhost';
  const isPath = typeof first === 'string' && !/^\d+$/.test(first);
  if (isPath) return first;
  return typeof second === 'string' ? second : 'localhost';
}
