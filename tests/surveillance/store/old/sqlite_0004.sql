BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE alerts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	alert_id TEXT NOT NULL, 
	round INTEGER, 
	table_name TEXT NOT NULL, 
	camera TEXT NOT NULL, 
	source TEXT NOT NULL, 
	dealer TEXT, 
	code TEXT NOT NULL, 
	severity TEXT NOT NULL, 
	seat INTEGER, 
	wager TEXT, 
	at DATETIME NOT NULL, 
	start_s TEXT, 
	end_s TEXT, 
	seen TEXT, 
	due TEXT, 
	rule TEXT, 
	message TEXT NOT NULL, 
	pictures JSON NOT NULL, 
	state TEXT NOT NULL, 
	was_right BOOLEAN, 
	decided_by TEXT, 
	decided_at DATETIME, 
	bundle TEXT, 
	bundle_sha256 TEXT, 
	clip TEXT, 
	recording_id INTEGER, 
	is_case BOOLEAN NOT NULL, 
	case_by TEXT, difference_cents BIGINT, 
	CONSTRAINT ck_alerts_state CHECK (state IN ('open', 'confirmed', 'rejected', 'corrected')), 
	CONSTRAINT fk_alerts_recording_id FOREIGN KEY(recording_id) REFERENCES recordings (id) ON DELETE SET NULL, 
	CONSTRAINT fk_alerts_round FOREIGN KEY(round) REFERENCES rounds (id), 
	CONSTRAINT uq_alerts_camera_source_alert_id UNIQUE (camera, source, alert_id)
);
INSERT INTO "alerts" VALUES(1,'t1-000001-01',1,'t1','pit1-t1','rtsp://camera/1#run1',NULL,'OVERPAID','high',3,'main','2026-03-01 20:01:00.000000','61.000','64.500','$30','$25','003 Pays, row 1','Seat 3 was paid $30 for $25.','["pictures/a.jpg", "pictures/b.jpg"]','corrected',1,'ana','2026-11-23 00:13:34.143118','pit1-t1/a.zip','0000000000000000000000000000000000000000000000000000000000000000','pit1-t1/a-small.mp4',NULL,0,NULL,500);
INSERT INTO "alerts" VALUES(2,'t1-000003-01',3,'t1','pit1-t1','rtsp://camera/1#run1',NULL,'UNDECIDED','info',5,NULL,'2026-03-01 20:03:00.000000',NULL,NULL,'$30','not judged: main','003 Pays, row 1','Seat 5 was not fully read: stake.','["pictures/a.jpg", "pictures/b.jpg"]','open',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO "alerts" VALUES(3,'t1-000003-02',3,'t1','pit1-t1','rtsp://camera/1#run1',NULL,'HAND_PAY','info',3,'main','2026-03-01 20:04:00.000000',NULL,NULL,NULL,NULL,NULL,'Seat 3 was paid $30 for $25.','[]','open',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO "alerts" VALUES(4,'t1-000005-01',2,'t1','pit1-t1','rtsp://camera/1#run1',NULL,'UNDECIDED','info',NULL,NULL,'2026-03-01 20:05:00.000000',NULL,NULL,'$30','$25','003 Pays, row 1','Seat 3 was paid $30 for $25.','["pictures/a.jpg", "pictures/b.jpg"]','rejected',0,'bo','2026-11-23 00:13:34.164219',NULL,NULL,NULL,NULL,1,'bo',NULL);
INSERT INTO "alerts" VALUES(5,'t1-dark-20260301T200600',NULL,'t1','pit1-t1','rtsp://camera/1#run1',NULL,'CAMERA','high',NULL,NULL,'2026-03-01 20:06:00.000000',NULL,NULL,'the picture is dark',NULL,NULL,'pit1-t1: the picture is "dark".','["pit1-t1/2026-03-01/x/dark.jpg"]','open',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL);
CREATE TABLE attempts (
	id INTEGER NOT NULL, 
	name_key TEXT NOT NULL, 
	address TEXT NOT NULL, 
	ok BOOLEAN NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_attempts PRIMARY KEY (id)
);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	by_name TEXT NOT NULL, 
	act TEXT NOT NULL, 
	target TEXT NOT NULL, 
	detail JSON NOT NULL, 
	address TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (id)
);
CREATE TABLE cameras (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	table_name TEXT NOT NULL, 
	source TEXT NOT NULL, 
	table_file_sha256 TEXT NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_cameras PRIMARY KEY (id), 
	CONSTRAINT uq_cameras_name UNIQUE (name)
);
CREATE TABLE dealers (
	id INTEGER NOT NULL, 
	table_name TEXT NOT NULL, 
	name TEXT, 
	at DATETIME NOT NULL, 
	by_name TEXT NOT NULL, 
	CONSTRAINT pk_dealers PRIMARY KEY (id)
);
CREATE TABLE health (
	id INTEGER NOT NULL, 
	camera TEXT NOT NULL, 
	state TEXT NOT NULL, 
	message TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_health PRIMARY KEY (id)
);
INSERT INTO "health" VALUES(1,'pit1-t1','dark began','the picture is dark','2026-03-01 20:00:00.000000');
INSERT INTO "health" VALUES(2,'pit1-t1','running','','2026-03-01 20:00:05.000000');
INSERT INTO "health" VALUES(3,'pit1-t1','dark ended','the picture is dark','2026-03-01 20:00:09.000000');
INSERT INTO "health" VALUES(4,'pit1-t1','no-picture again','none','2026-03-01 20:00:12.000000');
CREATE TABLE links (
	id INTEGER NOT NULL, 
	token_sha256 TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	user_id INTEGER, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_links PRIMARY KEY (id), 
	CONSTRAINT fk_links_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_links_token_sha256 UNIQUE (token_sha256)
);
CREATE TABLE pending_evidence (
	alert INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	since DATETIME NOT NULL, 
	content BLOB NOT NULL, 
	clip JSON, 
	clip_name TEXT NOT NULL, 
	missing JSON NOT NULL, 
	tries INTEGER NOT NULL, 
	error TEXT NOT NULL, 
	CONSTRAINT pk_pending_evidence PRIMARY KEY (alert), 
	CONSTRAINT ck_pending_evidence_status CHECK (status IN ('awaiting_clip', 'ready', 'preview')), 
	CONSTRAINT fk_pending_evidence_alert FOREIGN KEY(alert) REFERENCES alerts (id) ON DELETE CASCADE
);
INSERT INTO "pending_evidence" VALUES(2,'awaiting_clip','2026-11-23 00:13:34.154439',X'789CAB562A4B2D2ACECCCF53B232AC0500223604AE',NULL,'','[]',0,'');
INSERT INTO "pending_evidence" VALUES(3,'awaiting_clip','2026-11-23 00:13:34.156186',X'789CAB562A4B2D2ACECCCF53B232AC0500223604AE',NULL,'','[]',0,'');
CREATE TABLE recordings (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	folder TEXT NOT NULL, 
	file TEXT NOT NULL, 
	size BIGINT NOT NULL, 
	mtime DOUBLE NOT NULL, 
	table_file TEXT NOT NULL, 
	state TEXT NOT NULL, 
	at_s DOUBLE NOT NULL, 
	duration_s DOUBLE, 
	speed DOUBLE NOT NULL, 
	rounds INTEGER NOT NULL, 
	alerts INTEGER NOT NULL, 
	message TEXT NOT NULL, 
	out TEXT, 
	created_at DATETIME NOT NULL, 
	by_name TEXT NOT NULL, 
	updated_at DATETIME NOT NULL
);
CREATE TABLE round_details (
	round INTEGER NOT NULL, 
	record BLOB NOT NULL, 
	settlement BLOB NOT NULL, 
	CONSTRAINT pk_round_details PRIMARY KEY (round), 
	CONSTRAINT fk_round_details_round FOREIGN KEY(round) REFERENCES rounds (id) ON DELETE CASCADE
);
INSERT INTO "round_details" VALUES(1,X'789C75924D6BC3300C86FF8AD06983AC2469BB8FDCC67618F4B86329C18BD5D834B183ED9295D2FF3E29EB0AFBCA25AFE4578FA438470C7EEF746D3556988A9B5C9E02334CEAADA329C741AB7AD1D40F147C88756354D7916BA9A6F7C147D2EC89A452C46A7D9C1456F30C3B3F72021F5FF978F58C9B0C47D552F8744D92A1BDB24ECA93DA51DD901348B9CCF30C5593AC776C1994950EF2FA72CC79CCD3E6C4489E9E1AAB79866FBD4723028D6DCDBADCA0240E1C07521A5484BB27186D32A0201A1508FC16F2D9A204EFBA039EB27F408BDFA0D5CB1FA0DBE227687901C9BEB369DB0B2B1902CE343B68FCBED3E07C823792C025D210F781CEB033839CBE143B0F836D127B601B7C0FF7C5AC8408C9C3036FC4EA6A1BF8FA22E8E08781F47505D28F1132ABC8E90F80919791C691C8217FDA0F2339AC55',X'789CAB562A4E4D2C2956B28AAE06B394AC8C7594CA13D3538B206260A69295526E62669E928E527E6949727E6E2A50A01CCC2F48AC8C4F4ECD031960646A60A0A3545C92989D8A2C541B0B8400BEEF2179');
INSERT INTO "round_details" VALUES(2,X'789CAB562ACA2FCD4B89CF4C51B2522A31D435000123251DA5E2D4C4926225ABE86A304BC9CA50472927BF1C28A0E4180C94F676518AAD8DAD0500582D1264',X'789CAB562A4E4D2C2956B28AAE06B394AC0C7594CA332A95AC94624A8D0C0C93634A0D0C524D40649A19984C068BA728C494A65818033929C989864AB5B1B500667E1756');
INSERT INTO "round_details" VALUES(3,X'789C75924D6FC2300C86FF8AE5D32675A814D8476FD37698C4714784AA909836A24DAA24A84388FF3EBB6348FBA097BE765E3FB69B1E31F8BD33953558629ADEE5F2CC30C3A4362D8D390E6AD589A6AEA7E043AC74A3DA965C4D157DF43E92614F24952296ABE3A8B09C65D8FA8113F8FCCEC7CB575C6738A89AC2976B940CED9475529ED48E2A4D4E20C522CF33543A59EFD8D22B2B1DE4F5ED98F198A7F589913C3D696B78861FBD87460436B66E56C51A2571E0389032A0223CBCC06053030A62A30281DF423E9917E05D7BC053760534FF0B5ABEFD03BA9FFE062D2E20D977326E7B61A58680337A07DAEF5B03CE27D890042E9181B80F74869D19E4CCA5D879E8AD4EEC816DF01D3C4E270544481E9E78235637DBC0D717C104DFF7646E4B907E8C9059458E7F000CBC8C348E440EF9D37E022743AC57',X'789CAB562A4E4D2C2956B28AAE06B394AC8C7594CA13D3538B206260A69295526E62669E928E527E6949727E6E2A50A01CCC2F48AC8C4F4ECD031960646A60A0A3545C92989D8A2C541B0B8400BEEF2179');
CREATE TABLE rounds (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	table_name TEXT NOT NULL, 
	camera TEXT NOT NULL, 
	round_id TEXT NOT NULL, 
	game TEXT NOT NULL, 
	dealer TEXT, 
	started_at DATETIME NOT NULL, 
	ended_at DATETIME NOT NULL, 
	start_s TEXT, 
	end_s TEXT, 
	source TEXT NOT NULL, 
	recording_id INTEGER, 
	undecided INTEGER NOT NULL, 
	alerts INTEGER NOT NULL, 
	versions_id INTEGER, 
	CONSTRAINT fk_rounds_recording_id FOREIGN KEY(recording_id) REFERENCES recordings (id) ON DELETE SET NULL, 
	CONSTRAINT fk_rounds_versions_id FOREIGN KEY(versions_id) REFERENCES versions (id), 
	CONSTRAINT uq_rounds_camera_source_round_id UNIQUE (camera, source, round_id)
);
INSERT INTO "rounds" VALUES(1,'t1','pit1-t1','t1-000001','emperors_challenge_exposed',NULL,'2026-03-01 20:01:00.000000','2026-03-01 20:01:50.000000','60.250','110.000','rtsp://camera/1#run1',NULL,4,1,NULL);
INSERT INTO "rounds" VALUES(2,'t1','pit1-t1','t1-000002','emperors_challenge_exposed',NULL,'2026-03-01 20:02:00.000000','2026-03-01 20:02:50.000000','120.250','170.000','rtsp://camera/1#run1',NULL,0,1,NULL);
INSERT INTO "rounds" VALUES(3,'t1','pit1-t1','t1-000003','emperors_challenge_exposed',NULL,'2026-03-01 20:03:00.000000','2026-03-01 20:03:50.000000','180.250','230.000','rtsp://camera/1#run1',NULL,4,2,NULL);
CREATE TABLE sessions (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	token_sha256 TEXT NOT NULL, 
	opened_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	address TEXT NOT NULL, 
	agent TEXT NOT NULL, 
	closed_at DATETIME, 
	CONSTRAINT pk_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sessions_token_sha256 UNIQUE (token_sha256)
);
CREATE TABLE tokens (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	token_sha256 TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	used_at DATETIME, 
	revoked_at DATETIME, 
	CONSTRAINT fk_tokens_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
	CONSTRAINT uq_tokens_token_sha256 UNIQUE (token_sha256)
);
CREATE TABLE users (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	name_key TEXT NOT NULL, 
	role TEXT NOT NULL, 
	password_hash TEXT, 
	disabled BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT uq_users_name_key UNIQUE (name_key)
);
CREATE TABLE "verdicts" (
	id INTEGER NOT NULL, 
	alert INTEGER NOT NULL, 
	verdict TEXT NOT NULL, 
	comment TEXT NOT NULL, 
	corrected JSON, 
	by_name TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_verdicts PRIMARY KEY (id), 
	CONSTRAINT fk_verdicts_alert FOREIGN KEY(alert) REFERENCES alerts (id) ON DELETE CASCADE, 
	CONSTRAINT ck_verdicts_verdict CHECK (verdict IN ('confirmed', 'rejected', 'corrected', 'reopened'))
);
INSERT INTO "verdicts" VALUES(1,1,'corrected','see “clip”','{"seat": 4}','ana','2026-11-23 00:13:34.143118');
INSERT INTO "verdicts" VALUES(2,4,'rejected','',NULL,'bo','2026-11-23 00:13:34.164219');
CREATE TABLE versions (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	detail JSON NOT NULL, 
	first_at DATETIME NOT NULL, 
	CONSTRAINT pk_versions PRIMARY KEY (id), 
	CONSTRAINT uq_versions_kind_name_sha256 UNIQUE (kind, name, sha256)
);
CREATE INDEX ix_attempts_address_at ON attempts (address, at);
CREATE INDEX ix_attempts_at ON attempts (at);
CREATE INDEX ix_attempts_name_key_at ON attempts (name_key, at);
CREATE INDEX ix_audit_act_at_id ON audit (act, at, id);
CREATE INDEX ix_audit_at_id ON audit (at, id);
CREATE INDEX ix_audit_by_name_at_id ON audit (by_name, at, id);
CREATE INDEX ix_audit_target_at_id ON audit (target, at, id);
CREATE INDEX ix_dealers_name ON dealers (name);
CREATE INDEX ix_dealers_table_name_at_id ON dealers (table_name, at, id);
CREATE INDEX ix_health_at_id ON health (at, id);
CREATE INDEX ix_health_camera_at_id ON health (camera, at, id);
CREATE INDEX ix_health_state_at_id ON health (state, at, id);
CREATE INDEX ix_recordings_created_at_id ON recordings (created_at, id);
CREATE INDEX ix_recordings_folder_created_at_id ON recordings (folder, created_at, id);
CREATE INDEX ix_recordings_state_created_at_id ON recordings (state, created_at, id);
CREATE INDEX ix_users_created_at_id ON users (created_at, id);
CREATE INDEX ix_links_user_id ON links (user_id);
CREATE INDEX ix_rounds_camera_started_at_id ON rounds (camera, started_at, id);
CREATE INDEX ix_rounds_dealer_started_at_id ON rounds (dealer, started_at, id);
CREATE INDEX ix_rounds_recording_id_started_at_id ON rounds (recording_id, started_at, id);
CREATE INDEX ix_rounds_round_id_started_at_id ON rounds (round_id, started_at, id);
CREATE INDEX ix_rounds_tally ON rounds (started_at, id, table_name, dealer, alerts, undecided);
CREATE INDEX ix_rounds_table_name_started_at_id ON rounds (table_name, started_at, id);
CREATE INDEX ix_rounds_with_alerts ON rounds (started_at, id) WHERE alerts > 0;
CREATE INDEX ix_rounds_with_undecided ON rounds (started_at, id) WHERE undecided > 0;
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE INDEX ix_tokens_user_id ON tokens (user_id);
CREATE INDEX ix_alerts_camera_at_id ON alerts (camera, at, id);
CREATE INDEX ix_alerts_cases ON alerts (at, id) WHERE is_case;
CREATE INDEX ix_alerts_code_at_id ON alerts (code, at, id);
CREATE INDEX ix_alerts_code_state_was_right ON alerts (code, state, was_right);
CREATE INDEX ix_alerts_camera_state ON alerts (camera, state);
CREATE INDEX ix_alerts_dealer_at_id ON alerts (dealer, at, id);
CREATE INDEX ix_alerts_recording_id_at_id ON alerts (recording_id, at, id);
CREATE INDEX ix_alerts_round ON alerts (round);
CREATE INDEX ix_alerts_seat_at_id ON alerts (seat, at, id);
CREATE INDEX ix_alerts_state_at_id ON alerts (state, at, id);
CREATE INDEX ix_alerts_table_name_at_id ON alerts (table_name, at, id);
CREATE INDEX ix_alerts_tally ON alerts (at, id, table_name, camera, code, state, seat, dealer, recording_id, was_right, is_case, difference_cents);
CREATE INDEX ix_rounds_tally_by_dealer ON rounds (table_name, dealer, started_at, alerts, undecided);
CREATE INDEX ix_pending_evidence_status_tries_alert ON pending_evidence (status, tries, alert);
CREATE INDEX ix_verdicts_tally ON verdicts (at, by_name, verdict, alert);
CREATE INDEX ix_verdicts_alert_id ON verdicts (alert, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('rounds',3);
INSERT INTO "sqlite_sequence" VALUES('alerts',5);
COMMIT;
