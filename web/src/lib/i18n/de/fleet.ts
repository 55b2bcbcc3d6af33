/** Texte der Flotte. */

import type { Texts } from "../en";
import { decimal, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other: string): string => counted(n, { one, other });
const units = (n: number): string => plural(n, "Einheit", "Einheiten");
const workers = (n: number): string => plural(n, "Helfer", "Helfer");

export const fleet: Texts["fleet"] = {
  title: "Flotte",
  lead: "Die Rechner hinter diesem Server: Helfer rechnen für ihn, andere Server teilen seine Partien.",
  loading: "Die Flotte wird geladen",

  what: "Was ist eine Flotte?",
  about: [
    "Eine Flotte ist eine Gruppe von Rechnern, die diesem helfen. Sie spielen die Partien der Turniere und Trainingsläufe, die hier gestartet werden, und die Ergebnisse sind dieselben wie auf diesem Rechner, nur früher da.",
    "Ein Rechner, der hilft, heißt Helfer. Er darf jederzeit kommen und gehen: Nichts geht verloren, und andere führen zu Ende, was er begonnen hat.",
    "Helfer und Server finden einander über NATS, einen kleinen Nachrichtenserver.",
  ],
  steps: "So geht es los",
  startNats: "Den NATS-Server auf diesem Rechner starten:",
  natsOpen: "Er lässt jeden ein, der ihn erreicht; er gehört also in ein privates Netz, oder er wird abgesichert.",
  startServer: "Diesen Server mit dessen Adresse starten:",
  addWorker: "Auf jedem Rechner, der helfen soll, Claimeven installieren und einen Helfer starten:",
  add: "Einen Rechner hinzufügen",
  addAbout: "Darauf dieselbe Version von Claimeven installieren und einen Befehl starten:",
  addHost: "Statt HOST steht dort die Adresse dieses Rechners, wie der andere sie sieht.",
  copy: "Kopieren",
  copied: "Kopiert",
  noWorkers: "Kein Helfer ist verbunden.",
  noWorkersAbout: "Bis einer kommt, spielt dieser Server seine Turniere und Trainingsläufe selbst.",

  notAllowed: "Nur der Betreiber dieses Servers kann seine Flotte sehen.",
  notAllowedAbout: "Normalerweise wird sie Browsern auf dem Rechner des Servers gezeigt, zum Beispiel durch einen SSH-Tunnel. Die Einstellung fleet_page ändert das.",

  lost: (nats) => `Der NATS-Server unter ${nats} ist nicht erreichbar.`,
  lostSince: (time) => `Er ist seit ${time} weg. Partien gehen weiter, und dieser Server erledigt seine Arbeit selbst, bis er wieder da ist.`,
  lostCheck: "Läuft nats-server dort, und ist keine Firewall dazwischen? Die Verbindung wird von selbst wiederhergestellt.",
  lastSeen: "Darunter steht, was zuletzt zu sehen war.",

  facts: { workers: "Helfer", threads: "Threads", rate: "Einheiten pro Sekunde", waiting: "Wartende Einheiten", jobs: "Aufträge" },
  units: "Eine Einheit ist ein kleines Stück Arbeit, zum Beispiel eine Partie.",
  rate: "Einheiten pro Sekunde",
  waiting: "Einheiten, die auf einen Helfer warten",
  minutesAgo: "vor Minuten",
  now: "jetzt",

  workers: "Helfer",
  columns: {
    worker: "Helfer",
    version: "Version",
    threads: "Threads",
    running: "In Arbeit",
    waiting: "Wartend",
    done: "Erledigt",
    handedBack: "Zurückgegeben",
    rate: "Einheiten/s",
    arithmetic: "Arithmetik",
    kinds: "Arbeit",
    up: "Läuft seit",
  },
  otherVersion: (own) => `Er hat eine andere Version als dieser Server (${own}) und kann ihm nicht helfen.`,
  kinds: { games: "Partien", book: "Eröffnungsbücher", solve: "Stellungen", "self-play": "Selbstspiel", gate: "Gate-Matches", exam: "Prüfungen", moves: "Züge", sample: "Prüfstellungen" },
  gone: "In den letzten zehn Minuten gegangen",
  stopped: (worker, ago, done) => `${worker} wurde vor ${ago} beendet, nach ${units(done)}.`,
  silent: (worker, ago, done) => `Von ${worker} ist seit ${ago} nichts zu hören; erledigt waren ${units(done)}.`,

  jobs: "Aufträge",
  noJobs: "Kein Auftrag läuft. Ein Turnier in der Arena oder ein Befehl mit --nats startet einen.",
  job: (kind, host, version) => `${kind}, gestartet auf ${host}, Version ${version}`,
  progress: (done, all) => `${whole(done)} von ${units(all)}`,
  jobFacts: { repeated: "Wiederholt", checked: "Geprüft", setAside: "Beiseitegelegt", dismissed: "Entlassene Helfer", rate: "Einheiten/s", left: "Restzeit" },
  jobAbout: {
    repeated: "Ergebnisse, die ein zweites Mal kamen, weil ein Helfer oder der NATS-Server unterbrochen wurde. Sie werden nicht beachtet.",
    checked: "Einheiten, die ein zweiter Helfer ebenfalls berechnet hat, mit demselben Ergebnis.",
    setAside: "Einheiten, an denen drei Helfer gescheitert sind. Der Rest des Auftrags wird ohne sie beendet.",
    dismissed: "Helfer, deren Ergebnis falsch war. Alle ihre Ergebnisse werden neu berechnet.",
  },
  setAside: (unit, reason) => `Einheit ${unit} wurde beiseitegelegt: ${reason}`,
  dismissed: (worker, reason) => `${worker} wurde entlassen: ${reason}`,

  servers: "Server",
  serverColumns: { server: "Server", connected: "Verbindung", version: "Version", led: "Geleitete Partien", live: "Partien im Speicher", up: "Läuft seit" },
  thisServer: (name) => `${name} (dieser)`,
  connected: "verbunden",
  cutOff: "erreicht NATS nicht",
  ledAbout: "Ein Server leitet eine Partie, wenn er ihre Agenten denken lässt und auf ihre Uhr achtet. Züge nimmt jeder Server an.",

  linkWorkers: (count) => `Flotte: ${workers(count)}`,
  linkNone: "Andere Rechner helfen lassen",
  playedBy: (count) => `Gespielt von ${plural(count, "Helfer", "Helfern")} der Flotte.`,
  latest: "Gerade beendete Partien",
  perSecond: (rate) => decimal(rate, 1),
};
