/** Textos para aprender: análisis, revisión, problemas y estadísticas. */

import type { Value } from "../../types";
import type { Certainty } from "../../types-study";
import type { Texts } from "../en";
import { percent, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other: string): string => counted(n, { one, other });
const moves = (n: number): string => plural(n, "jugada", "jugadas");
const lines = (n: number): string => plural(n, "línea", "líneas");

const valueText = ({ kind, number }: Value): string => {
  switch (kind) {
    case "win":
      return `gana en ${Math.ceil(number / 2)}`;
    case "loss":
      return `pierde en ${Math.floor(number / 2)}`;
    case "draw":
      return "empate";
    case "lines":
      return number === 0 ? "empate" : `${number > 0 ? "gana" : "pierde"} por ${lines(Math.abs(number))}`;
    case "expected":
      return percent(number, 1);
    case "points":
      return number > 0 ? `+${whole(number)}` : number < 0 ? `−${whole(-number)}` : "0";
  }
};

/** El final de una frase que empieza con la jugada: «gana en 3», «empata». */
const does = ({ value, at_least, at_most, no_loss_within }: Certainty): string => {
  if (value) return value.kind === "draw" || (value.kind === "lines" && value.number === 0) ? "empata" : valueText(value);
  if (at_least === 1) return "gana";
  if (at_most === -1) return "pierde";
  if (at_least === 0) return at_most === 0 ? "empata" : "al menos empata";
  const safe = no_loss_within > 0 ? `no pierde en ${moves(no_loss_within)}` : "";
  if (at_most === 0) return safe ? `como mucho empata y ${safe}` : "como mucho empata";
  return safe || "está sin resolver";
};

export const study: Texts["study"] = {
  nav: {
    menu: "Más páginas",
    analysis: "Análisis",
    puzzles: "Problemas",
    statistics: "Estadísticas",
    lab: "Laboratorio",
    arena: "Arena",
    training: "Entrenamiento",
    play: "Jugar",
    learn: "Aprender",
    research: "Investigar",
  },

  analysis: {
    title: "Tablero de análisis",
    value: valueText,
    verdict: {
      of: ({ value, at_least, at_most }, mover, other) => {
        if (value?.kind === "lines" && value.number !== 0) return `${value.number > 0 ? mover : other} gana por ${lines(Math.abs(value.number))}`;
        if (value?.kind === "win" || value?.kind === "loss") return `${value.kind === "win" ? mover : other} gana en ${Math.ceil(value.number / 2)}`;
        if (at_least === 1) return `${mover} gana`;
        if (at_most === -1) return `${other} gana`;
        if (at_least === 0) return at_most === 0 ? "Empate" : `Al menos empate para ${mover}`;
        return at_most === 0 ? `Como mucho empate para ${mover}` : "Sin resolver";
      },
      unknown: "Sin resolver",
      over: (winner, ruleset, scores) => {
        const score = ruleset === "lines" ? `, ${Math.max(...scores)} a ${Math.min(...scores)}` : "";
        return winner === null ? `La partida acabó en empate${score}` : `${winner} ha ganado${score}`;
      },
      loading: "Analizando…",
    },
    looking: "Buscando más a fondo…",
    toMove: (colour) => `Juega ${colour}`,
    estimate: (column, depth) => `La columna ${column} parece la mejor (profundidad de búsqueda ${depth})`,
    noLossWithin: (colour, n) => `Seguro: ${colour} no pierde en ${moves(n)}.`,
    stillLooking: "Lo que aparece bajo las columnas es seguro. El resto se está analizando.",
    notExact: "Esta posición no se puede resolver en unos segundos. Lo que aparece bajo las columnas es seguro («dura 6» significa que no pierde en 6 jugadas); la que parece mejor es solo una estimación.",
    expected: "Juego esperado (estimación)",
    looksBest: (depth) => `parece la mejor (profundidad de búsqueda ${depth})`,
    book: "Libro de aperturas",
    bookAbout: "El libro contiene los valores exactos de todas las posiciones de hasta 12 fichas.",
    exact: "Exacto",
    bound: "Sin resolver",
    values: "Valor de cada columna",
    column: (column, text) => `Columna ${column}: ${text}`,
    full: "llena",
    best: "la mejor",
    certain: ({ value, at_least, at_most, no_loss_within }) => {
      if (value) return valueText(value);
      if (at_least === 1) return "gana";
      if (at_most === -1) return "pierde";
      if (at_least === 0) return at_most === 0 ? "empate" : "al menos empate";
      const safe = no_loss_within > 0 ? `no pierde en ${moves(no_loss_within)}` : "";
      return [at_most === 0 ? "como mucho empate" : "", safe].filter(Boolean).join(", ") || "sin resolver";
    },
    short: ({ value, at_least, at_most, no_loss_within }) => {
      if (value) return valueText(value);
      if (at_least === 1) return "gana";
      if (at_most === -1) return "pierde";
      if (at_least === 0) return at_most === 0 ? "empate" : "empate o victoria";
      return at_most === 0 ? "empate o derrota" : no_loss_within > 0 ? `dura ${no_loss_within}` : "–";
    },
    does,
    bar: (text) => `Evaluación: ${text}`,
    line: "Mejor juego",
    moved: (colour, column) => `${colour}: columna ${column}`,
    playTo: (column, colour) => `${colour} juega la columna ${column}: jugar hasta aquí`,

    moves: "Jugadas",
    noMoves: "Suelta fichas para explorar. Vuelve atrás y juega otra columna para añadir una variante.",
    setUpStart: "Empieza desde una posición personalizada",
    deleteLine: "Borrar desde aquí",
    promote: "Hacer variante principal",
    rename: "Poner nombre a la variante",
    nameOf: "Nombre de la variante",
    nameFor: (column) => `Nombre de la variante que empieza con la columna ${column}`,
    done: "Listo",
    variation: "Variante",

    threats: "Amenazas",
    showThreats: "Mostrar las amenazas en el tablero",
    noThreats: "Aún no hay amenazas.",
    threat: (row, column, odd, open, lasting) => `columna ${column}, fila ${row} (${odd ? "impar" : "par"}${lasting ? ", duradera" : ""})${open ? ", se puede jugar ya" : ""}`,
    odd: "impar",
    even: "par",
    why: "¿Por qué pares e impares?",
    whyText: [
      "Una amenaza es una casilla vacía que completaría una línea ganadora. Si una ficha soltada ahora cayera allí, ganaría al instante. La mayoría de las amenazas aún no se pueden alcanzar: la casilla de debajo está vacía, y quien juegue ahí deja que el otro use o bloquee la amenaza.",
      "Cerca del final nadie quiere jugar debajo de una amenaza, y las demás columnas se llenan. En un tablero con un número par de filas, quien empezó consigue entonces las casillas de las filas impares, y el otro las de las pares.",
      "Por eso una amenaza impar vale más para el primer jugador y una par para el segundo. Un contorno de puntos marca una de estas amenazas duraderas.",
    ],

    opinions: "Opiniones",
    opinionsAbout: "Lo que piensan de esta posición los jugadores del ordenador que no usan el solucionador. Sus números son estimaciones, salvo las victorias y derrotas forzadas.",
    opinionAgents: { "alphabeta:depth=8,every=on": "Alfa-beta, profundidad 8", "mcts:sims=20000": "Monte Carlo, 20.000 simulaciones", "zero:sims=0": "Red sin búsqueda", "zero:sims=200": "AlphaZero, 200 simulaciones" },
    other: "Otro jugador del ordenador…",
    ask: "Preguntar",
    thinking: "pensando…",
    plays: (column, value) => `juega la columna ${column}, ${value}`,
    bestMove: "una de las mejores",
    inaccurate: "imprecisa",
    shares: { mcts: "Proporción de simulaciones", zero: "Política", other: "Valores" },
    work: (nodes, ms) => `${nodes} nodos, ${ms}`,

    setUp: "Colocar",
    setUpTitle: "Colocar una posición",
    place: "Ficha",
    erase: "Quitar",
    setUpHint: "O coloca las fichas a mano: pulsa una columna para soltar una ficha o quitar la de arriba.",
    counts: (a, b, x, o) => `${a} ${x}, ${b} ${o}.`,
    uneven: (a, b) => `${a} juega primero, así que necesita tantas fichas como ${b} o una más.`,
    use: "Analizar esta posición",
    clear: "Vaciar el tablero",
    cancel: "Cancelar",
    paste: "Pegar una posición",
    pasteAbout: "Jugadas (4453 o 4, 4, 5, 3), un enlace de otro solucionador (…?pos=4453), un tablero dibujado con . X O o un tablero de Kaggle.",
    read: "Cargar la posición",
    board: "Tablero",
    ruleset: "Reglas",
    flip: "Girar el tablero",
    start: "Nuevo análisis",
    share: "Copiar y compartir",
    copyMoves: "Jugadas",
    copyPicture: "Tablero como texto",
    copyLink: "Enlace",
    saveSvg: "Imagen (SVG)",
    savePng: "Imagen (PNG)",
    copied: "Copiado",
    copyFailed: "El navegador no permite copiar. Selecciona y copia el texto aquí:",
  },

  review: {
    title: "Revisión de la partida",
    button: "Revisar",
    of: (names) => `Revisión: ${names}`,
    loading: "Analizando cada jugada…",
    unfinished: "Esta partida aún no ha terminado. Vuelve cuando acabe.",
    back: "Volver a la partida",
    analyse: "Abrir en el análisis",
    graph: "Evaluación tras cada jugada",
    graphAbout: (a, b) => `Por encima de la línea central va ganando ${a}; por debajo, ${b}. Cuanto más cerca del borde, antes gana. Pulsa una jugada o usa las flechas.`,
    after: (ply, text) => `Tras la jugada ${ply}: ${text}`,
    accuracy: "Precisión",
    noAccuracy: "–",
    accuracyAbout: "Ninguna jugada podía cambiar el resultado",
    formula:
      "La precisión es la proporción de puntos que un jugador conservó. Una victoria vale dos puntos y un empate uno. Cada jugada puede perder como mucho la diferencia entre la mejor y la peor jugada de su posición; precisión = 1 − puntos perdidos ÷ máximo de puntos que se podían perder. Las victorias más lentas y las derrotas más rápidas no cuestan nada.",
    formulaTitle: "Cómo se calcula la precisión",
    counts: { blunders: "Errores graves", mistakes: "Errores", only_moves: "Jugadas únicas", slower_wins: "Victorias más lentas", faster_losses: "Derrotas más rápidas" },
    countsAbout: {
      blunders: "Convirtió una victoria o un empate en derrota",
      mistakes: "Convirtió una victoria en empate",
      only_moves: "La única jugada que mantenía el resultado",
      slower_wins: "Sigue ganando, pero más tarde",
      faster_losses: "Pierde igualmente, pero antes",
    },
    linesCounts: { slower_wins: "Victorias menores", faster_losses: "Derrotas mayores" },
    linesCountsAbout: { slower_wins: "Sigue ganando, pero por menos líneas", faster_losses: "Pierde igualmente, pero por más líneas" },
    judgements: { best: "La mejor", good: "Buena", only: "Jugada única", "slower-win": "Victoria más lenta", "faster-loss": "Derrota más rápida", mistake: "Error", blunder: "Error grave", unknown: "Sin resolver" },
    linesJudgements: { "slower-win": "Victoria menor", "faster-loss": "Derrota mayor" },
    judged: (judgement, value) => (value ? `${judgement}: ${value}` : judgement),
    better: (column, choice) => `La columna ${column} ${does(choice)}.`,
    estimate: (column, depth) => `La columna ${column} parecía la mejor (profundidad de búsqueda ${depth}).`,
    judgedMoves: "Jugadas valoradas",
    judgedOf: (judged, all) => `${judged} de ${all}`,
    soFar: (judged, all) =>
      `${judged} de ${moves(all)} están valoradas por ahora. El resto tardará un poco más.`,
    incomplete: (judged, all) =>
      `Se pudieron valorar ${judged} de ${moves(all)} (${percent(judged / Math.max(1, all))}). Las demás llegan demasiado pronto en la partida para resolverse en este tablero; para ellas, la revisión muestra qué jugada prefiere una búsqueda.`,
    start: "Comienzo de la partida",
    given: "apertura",

    learn: (own) => (own ? "Aprende de tus errores" : "Aprende de los errores"),
    learnAbout: (n, own) => (own ? `Dejaste pasar ${plural(n, "jugada mejor", "jugadas mejores")}. Encuéntra${n === 1 ? "la" : "las"}.` : `Se ${n === 1 ? "dejó" : "dejaron"} pasar ${plural(n, "jugada mejor", "jugadas mejores")}. Encuéntra${n === 1 ? "la" : "las"}.`),
    noErrors: "No hay errores de los que aprender. ¡Bien jugado!",
    noErrorsKnown: (judged, all) => (judged === 0 ? "No se pudo valorar ninguna jugada, así que no se conocen errores." : `Ningún error entre las ${judged} de ${all} jugadas que se pudieron valorar.`),
    whose: "Errores de quién",
    both: "Ambos jugadores",
    errorOf: (n, of) => `${n} de ${of}`,
    find: { win: (colour) => `${colour} puede ganar aquí. Encuentra la jugada.`, draw: (colour) => `${colour} puede empatar aquí. Encuentra la jugada.` },
    played: (column, choice) => `En la partida: columna ${column}, que ${does(choice)}.`,
    right: (column, choice) => `¡Correcto! La columna ${column} ${does(choice)}.`,
    rightSlower: (column, choice, best) => `¡Correcto! La columna ${column} ${does(choice)} (la mejor jugada ${does(best)}).`,
    wrong: (column, choice) => `La columna ${column} ${does(choice)}. Inténtalo de nuevo.`,
    unsure: (column) => `La columna ${column} no está resuelta y podría ser igual de buena. Prueba otra.`,
    hint: "Pista",
    hintIn: (choice) => `La mejor jugada ${does(choice)}.`,
    hintSide: (side) => ({ left: "Mira el lado izquierdo.", middle: "Mira el centro.", right: "Mira el lado derecho." })[side],
    solution: "Mostrar la jugada",
    solutionIs: (column, choice) => `La columna ${column} ${does(choice)}.`,
    refutation: "¿Por qué era un error?",
    refutationTitle: (column) => `Por qué la columna ${column} era un error`,
    continuation: "Mostrar cómo sigue",
    continuationTitle: (column) => `Mejor juego tras la columna ${column}`,
    next: "Siguiente posición",
    skip: "Saltar",
    done: "Volver a la revisión",
    again: "Volver a la posición",
    yourMove: (colour) => `Te toca: juega ${colour}.`,
  },

  puzzles: {
    title: "Problemas",
    daily: "Problema del día",
    grade: "Dificultad",
    grades: ["", "Muy fácil", "Fácil", "Media", "Difícil", "Experto"],
    all: "Todas",
    theme: "Tema",
    allThemes: "Todos los temas",
    themes: { "win-now": "Ganar ya", "must-block": "Hay que bloquear", "double-threat": "Amenaza doble", "stacked-threats": "Amenazas apiladas", "forcing-moves": "Jugadas forzantes", "odd-threat": "Zugzwang: amenaza impar", "even-threat": "Zugzwang: amenaza par", "no-safe-move": "Sin jugadas seguras", "follow-up": "Responder encima", "long-plan": "Planes largos", "opens-four": "Jugar debajo de una amenaza", "save-the-draw": "Salvar el empate" },
    themesAbout: {
      "win-now": "Puedes conectar cuatro con esta ficha.",
      "must-block": "El rival está a punto de conectar cuatro.",
      "double-threat": "Crea dos amenazas a la vez: solo se puede bloquear una.",
      "stacked-threats": "Crea una amenaza justo encima de otra.",
      "forcing-moves": "Cada jugada tuya es una amenaza que hay que bloquear.",
      "odd-threat": "Usa una amenaza en una fila impar: al rival se le acaban las jugadas seguras.",
      "even-threat": "Usa una amenaza en una fila par: al rival se le acaban las jugadas seguras.",
      "no-safe-move": "Tras cada jugada del rival puedes conectar cuatro justo encima.",
      "follow-up": "Responde justo encima de las fichas del rival y conseguirás las casillas que necesitas.",
      "long-plan": "La victoria lleva muchas jugadas. Busca amenazas duraderas y cuenta.",
      "opens-four": "Una ficha justo debajo de una casilla en la que el rival conectaría cuatro.",
      "save-the-draw": "Cualquier otra jugada pierde.",
    },
    next: "Siguiente problema",
    skip: "Saltar",
    previous: "Problema anterior",
    goal: { win: (colour, discs) => (discs === 1 ? `Juega ${colour} y gana` : `Juega ${colour} y gana en ${discs}`), draw: (colour) => `Juega ${colour} y empata` },
    only: "Solo funciona una jugada. Juega hasta ganar.",
    onlyDraw: "Solo funciona una jugada.",
    solved: (n, of) => `${n} de ${of} resueltos`,
    right: "¡Correcto! Sigue: el rival se defiende lo mejor posible.",
    won: "¡Resuelto! Cuatro en raya.",
    held: "¡Resuelto! El empate está asegurado.",
    rightSlower: (choice) => `Sigue ganando, pero más despacio: ${does(choice)}.`,
    wrong: (column, choice) => `La columna ${column} ${does(choice)}. Inténtalo de nuevo.`,
    progress: (done, of) => `Jugada ${done} de ${of}`,
    reset: "Borrar mi progreso",
    confirmReset: "¿Borrar todo el progreso?",
    analyse: "Abrir en el análisis",
    alreadySolved: "Ya has resuelto este problema.",
    streak: (n) => `${plural(n, "problema", "problemas")} ${n === 1 ? "resuelto" : "seguidos resueltos"} a la primera`,
    empty: "No hay problemas de este tipo.",
    rating: (rating) => `Puntuación ${rating}`,
    ratingAbout: (solved, tried) => (tried === 0 ? "Nadie lo ha intentado todavía: la puntuación se basa en la dificultad." : `Resuelto a la primera por ${solved} de ${tried}.`),
  },

  statistics: {
    title: "Estadísticas",
    mine: "Tus partidas",
    everyone: "Todas las partidas",
    whose: "Partidas de quién",
    none: "Aún no hay partidas terminadas",
    noneAbout: "Aquí se cuentan las partidas terminadas.",
    games: (n) => plural(n, "partida", "partidas"),
    won: "Ganadas",
    drawn: "Empates",
    lost: "Perdidas",
    score: "Puntuación",
    interval: (low, high) => `${low} a ${high}`,
    intervalAbout: "La puntuación es la proporción de puntos; un empate vale medio. La barra es el intervalo de Wilson del 95 %, que es ancho con pocas partidas.",
    accuracy: "Precisión",
    accuracyAbout: "La precisión es la media de todas las partidas revisadas.",
    length: "Jugadas por partida",
    time: "Tiempo por jugada",
    groups: { opponent: "Por rival", colour: "Por quién empieza", opening: "Por apertura", size: "Por tablero", ruleset: "Por reglas", player: "Por jugador" },
    first: "Jugando primero",
    second: "Jugando segundo",
    people: "Personas",
    reviewed: (n) => `${plural(n, "partida revisada", "partidas revisadas")}`,
    gamesHead: "Partidas",
    moves: "Jugadas",
    mineAbout: "Las partidas locales, en las que juegas por ambos lados, no se cuentan.",
    progress: "Progreso",
    progressAbout: "Puntuación de las últimas diez partidas en cada momento, y precisión donde se conoce.",
    progressScore: "Puntuación, últimas 10 partidas",
    progressAccuracy: "Precisión, últimas 10 partidas",
    costs: "Lo que te cuesta partidas",
    costsAbout: (games, of) => `Los temas de los errores que decidieron la partida, en ${whole(games)} de tus últimas ${plural(of, "partida", "partidas")}.`,
    costsRecent: (n) => `${n} de las últimas 20`,
    costsNone: "Ninguna de tus partidas revisadas se decidió por un error tuyo.",
    costsLesson: "Lección",
    costsPuzzles: "Problemas",
    lengths: "Cuánto duran las partidas",
    explorer: "Explorador de aperturas",
    explorerAbout: "Las jugadas hechas desde una posición: cuántas veces, con qué resultado y cuánto valen exactamente.",
    explorerEmpty: "Ninguna partida siguió desde aquí.",
    column: "Columna",
    played: "Jugada",
    exact: "Valor",
    firstWins: (colour) => `Ganó ${colour}`,
    unit: "jugadas",
    more: "Mostrar todo",
    firstMoverScore: "Puntuación jugando primero",
  },
};
