/** Behaviours that happen once and at once: restarts, speech, turned knobs. */
import type { Nvs } from '../boot/nvs.js';
import type { McpRequests } from '../calls/mcp-requests.js';
import type { Conversation } from '../connection/conversation.js';
import type { Link } from '../connection/link.js';
import type { DeviceState } from '../device-state.js';
import type { RestartPlan } from '../firmware/restart-plan.js';
import { uuidFrom } from '../identity.js';
import type { Behaviour, LastingBehaviour } from './behaviour.js';
import type { BehaviourScript } from './behaviour-script.js';
import type { Habits } from './habits.js';

type MomentaryBehaviour = Exclude<Behaviour, LastingBehaviour>;

interface MomentParts {
  readonly state: DeviceState;
  readonly nvs: Nvs;
  readonly link: Link;
  readonly conversation: Conversation;
  readonly requests: McpRequests;
  readonly restarts: RestartPlan;
  readonly script: BehaviourScript;
  readonly habits: Habits;
  readonly random: () => number;
  /** Neither a device that boots nor one that upgrades hears its wake word. */
  readonly mayTalk: () => boolean;
  /** Comes back as another device. */
  readonly impersonate: (as: { readonly mac: string; readonly uuid: string }, now: number) => void;
}

export class Moments {
  constructor(private readonly parts: MomentParts) {}

  happen(behaviour: MomentaryBehaviour, now: number): void {
    const { conversation, habits, requests, restarts, script, state } = this.parts;
    switch (behaviour.kind) {
      case 'helloNow':
        if (this.parts.mayTalk()) conversation.open();
        return;
      case 'talk':
        if (this.parts.mayTalk()) conversation.talk(behaviour.packets, now);
        return;
      case 'hangUp':
        conversation.end(now);
        return;
      case 'notification':
        requests.notify(behaviour.method, behaviour.params);
        return;
      case 'duplicateId':
        return this.parts.impersonate({ mac: behaviour.mac, uuid: behaviour.uuid ?? state.identity.uuid }, now);
      case 'reboot':
        // A hardware reset also works while the main task is blocked by an upgrade.
        if (behaviour.how === 'power' || state.isUpgrading) restarts.crash(now);
        else restarts.plan({ kind: 'reboot' });
        return;
      case 'eraseFlash':
        return this.#eraseFlash(now);
      case 'turnKnob':
        habits.turn(behaviour.knob, behaviour.value, now);
        return;
      case 'normal':
        script.clear();
        habits.clear();
    }
  }

  #eraseFlash(now: number): void {
    const { link, nvs, random, restarts, state } = this.parts;
    state.eraseFlash(uuidFrom(random));
    nvs.erase();
    link.effect({ kind: 'keep', flash: state.flash(nvs) });
    restarts.crash(now);
  }
}
