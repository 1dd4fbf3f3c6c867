//! Roles and privileges: CREATE and ALTER ROLE, GRANT, REVOKE.

use super::ast::{
    AlterDefaultPrivileges, AlterRole, AlterSettings, CreateRole, Grant, GrantRole, Ident,
    ObjectKind, ObjectName, RoleOption, Statement,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl<'t> Parser<'t> {
    /// CREATE ROLE, USER, GROUP from that word on.
    pub(super) fn create_role(&mut self, user: bool) -> Result<Statement> {
        self.advance();
        let name = self.new_role()?;
        self.accept(Keyword::With);
        let options = self.role_options()?;
        Ok(Statement::CreateRole(CreateRole { user, name, options }))
    }

    /// ALTER ROLE name behind ROLE.
    pub(super) fn alter_role(&mut self) -> Result<Statement> {
        let all = self.accept(Keyword::All);
        let name = if all { None } else { Some(self.role()?) };
        let database = if self.accept(Keyword::In) {
            self.expect(Keyword::Database)?;
            Some(self.name()?)
        } else {
            None
        };
        if matches!(self.kind(), Kind::Keyword(Keyword::Set | Keyword::Reset)) {
            let change = self.setting_change()?;
            return Ok(Statement::AlterSettings(AlterSettings { role: name, database, change }));
        }
        let Some(name) = name.filter(|_| database.is_none()) else { return Err(self.error()) };
        if self.accept(Keyword::Rename) {
            self.expect(Keyword::To)?;
            let to = self.new_role()?;
            let at = self.here();
            return Ok(Statement::Rename(super::ast::Rename {
                kind: ObjectKind::Role,
                name: ObjectName { parts: vec![name], at },
                part: None,
                if_exists: false,
                to,
            }));
        }
        // ALTER GROUP adds and drops members.
        if matches!(self.kind(), Kind::Keyword(Keyword::Add | Keyword::Drop))
            && self.is_at(1, Keyword::User)
        {
            let revoke = self.is(Keyword::Drop);
            self.advance();
            self.advance();
            let grantees = self.list(Parser::role)?;
            return Ok(Statement::GrantRole(GrantRole {
                revoke,
                roles: vec![name],
                grantees,
                admin_option: false,
                granted_by: None,
                alters: true,
                cascade: false,
            }));
        }
        self.accept(Keyword::With);
        let options = self.role_options()?;
        Ok(Statement::AlterRole(AlterRole { name, options }))
    }

    /// `RoleId`: the name of a role that is made or renamed, which is none of CURRENT_USER and the like.
    fn new_role(&mut self) -> Result<Ident> {
        let at = self.here();
        let word = match self.kind() {
            Kind::Keyword(Keyword::CurrentUser) => Some("CURRENT_USER"),
            Kind::Keyword(Keyword::CurrentRole) => Some("CURRENT_ROLE"),
            Kind::Keyword(Keyword::SessionUser) => Some("SESSION_USER"),
            _ => None,
        };
        let name = self.role()?;
        let complaint = match word {
            Some(word) => format!("{word} cannot be used as a role name here"),
            None if matches!(&*name, "public" | "none") => {
                format!("role name \"{name}\" is reserved")
            }
            None => return Ok(name),
        };
        Err(SqlError::new(SqlState::RESERVED_NAME, complaint).at(self.position(at)))
    }

    fn role_options(&mut self) -> Result<Vec<RoleOption>> {
        let mut options = Vec::new();
        while self.is_label(self.kind()) {
            options.push(self.role_option()?);
        }
        Ok(options)
    }

    fn role_option(&mut self) -> Result<RoleOption> {
        let token = self.token();
        Ok(match self.kind() {
            Kind::Keyword(Keyword::Password) => {
                self.advance();
                let none = self.accept(Keyword::Null);
                RoleOption::Password(if none { None } else { Some(self.string()?) })
            }
            Kind::Keyword(Keyword::Encrypted) => {
                self.advance();
                self.expect(Keyword::Password)?;
                RoleOption::Password(Some(self.string()?))
            }
            Kind::Keyword(Keyword::Unencrypted) => {
                self.advance();
                self.expect(Keyword::Password)?;
                self.string()?;
                return Err(self
                    .complaint("UNENCRYPTED PASSWORD is no longer supported", token.start)
                    .hint("Remove UNENCRYPTED to store the password in encrypted form instead."));
            }
            Kind::Keyword(Keyword::Connection) => {
                self.advance();
                self.expect(Keyword::Limit)?;
                RoleOption::ConnectionLimit(self.signed()?)
            }
            Kind::Keyword(Keyword::Valid) => {
                self.advance();
                self.expect(Keyword::Until)?;
                RoleOption::ValidUntil(self.string()?)
            }
            Kind::Keyword(Keyword::In) => {
                self.advance();
                if !self.accept(Keyword::Role) {
                    self.expect(Keyword::Group)?;
                }
                RoleOption::InRole(self.list(Parser::role)?)
            }
            Kind::Keyword(Keyword::Role | Keyword::User) => {
                self.advance();
                RoleOption::Members(self.list(Parser::role)?)
            }
            Kind::Keyword(Keyword::Admin) => {
                self.advance();
                RoleOption::Admins(self.list(Parser::role)?)
            }
            Kind::Keyword(Keyword::Sysid) => {
                self.advance();
                self.integer()?;
                RoleOption::SysId
            }
            Kind::Keyword(Keyword::Inherit) => {
                self.advance();
                RoleOption::Inherit(true)
            }
            _ => {
                let word = self.text_of(token).to_ascii_lowercase();
                let option = match word.as_str() {
                    "superuser" => RoleOption::Superuser(true),
                    "nosuperuser" => RoleOption::Superuser(false),
                    "createdb" => RoleOption::CreateDb(true),
                    "nocreatedb" => RoleOption::CreateDb(false),
                    "createrole" => RoleOption::CreateRole(true),
                    "nocreaterole" => RoleOption::CreateRole(false),
                    "noinherit" => RoleOption::Inherit(false),
                    "login" => RoleOption::Login(true),
                    "nologin" => RoleOption::Login(false),
                    "replication" => RoleOption::Replication(true),
                    "noreplication" => RoleOption::Replication(false),
                    "bypassrls" => RoleOption::BypassRls(true),
                    "nobypassrls" => RoleOption::BypassRls(false),
                    _ if token.kind == Kind::Word => {
                        let message = format!("unrecognized role option \"{word}\"");
                        return Err(self.complaint(message, token.start));
                    }
                    _ => return Err(self.error()),
                };
                self.advance();
                option
            }
        })
    }

    /// GRANT and REVOKE.
    pub(super) fn grant(&mut self) -> Result<Statement> {
        let revoke = self.is(Keyword::Revoke);
        self.advance();
        let mut grant_option = false;
        let mut admin_option = false;
        if revoke && self.accept_all(&[Keyword::Grant, Keyword::Option]) {
            self.expect(Keyword::For)?;
            grant_option = true;
        } else if revoke && self.accept_all(&[Keyword::Admin, Keyword::Option]) {
            self.expect(Keyword::For)?;
            admin_option = true;
        }
        let mut privileges = Vec::new();
        if self.accept(Keyword::All) {
            self.accept(Keyword::Privileges);
            if self.is_symbol(b'(') {
                let columns = self.in_parentheses(Parser::name)?;
                privileges.push(("all".into(), columns));
            }
        } else {
            privileges = self.list(Parser::privilege)?;
        }
        let to = if revoke { Keyword::From } else { Keyword::To };
        if self.accept(to) {
            return self.grant_role(revoke, privileges, admin_option);
        }
        self.expect(Keyword::On)?;
        let mut in_schema = false;
        let mut kind = ObjectKind::Table;
        let of = if self.is(Keyword::All) { self.kind_at(1) } else { self.kind() };
        let word = match of {
            Kind::Keyword(Keyword::Procedure | Keyword::Procedures) => "PROCEDURE",
            Kind::Keyword(Keyword::Routine | Keyword::Routines) => "ROUTINE",
            _ => "FUNCTION",
        };
        if self.accept(Keyword::All) {
            kind = match self.kind() {
                Kind::Keyword(Keyword::Tables) => ObjectKind::Table,
                Kind::Keyword(Keyword::Sequences) => ObjectKind::Sequence,
                Kind::Keyword(Keyword::Functions | Keyword::Procedures | Keyword::Routines) => {
                    ObjectKind::Function
                }
                _ => return Err(self.error()),
            };
            self.advance();
            self.expect_all(&[Keyword::In, Keyword::Schema])?;
            in_schema = true;
        } else if self.begins_grant_kind() {
            kind = self.object_kind()?;
            if let ObjectKind::Other(words) = kind {
                self.skip_statement();
                let word = if revoke { "REVOKE" } else { "GRANT" };
                return Ok(Statement::Unsupported(format!("{word} ON {words}")));
            }
        }
        let mut signatures = Vec::new();
        let names = self.list(|parser| {
            let name = match kind {
                ObjectKind::Function => parser.function_name()?,
                _ => parser.object_name()?,
            };
            signatures.push(parser.routine_arguments()?);
            Ok(name)
        })?;
        self.expect(to)?;
        self.grant_end(Grant {
            revoke,
            privileges,
            kind,
            word,
            in_schema,
            names,
            signatures,
            granted_by: None,
            grantees: Vec::new(),
            grant_option,
            cascade: false,
        })
        .map(Statement::Grant)
    }

    /// To whom, and what stands behind that.
    fn grant_end(&mut self, mut grant: Grant) -> Result<Grant> {
        grant.grantees = self.grantees()?;
        if !grant.revoke && self.accept(Keyword::With) {
            self.expect_all(&[Keyword::Grant, Keyword::Option])?;
            grant.grant_option = true;
        }
        grant.granted_by = self.granted_by()?;
        grant.cascade = grant.revoke && self.cascade();
        Ok(grant)
    }

    /// ALTER DEFAULT PRIVILEGES behind ALTER DEFAULT.
    pub(super) fn alter_default_privileges(&mut self) -> Result<Statement> {
        self.expect(Keyword::Privileges)?;
        let (mut roles, mut schemas) = (Vec::new(), Vec::new());
        loop {
            if self.accept(Keyword::For) {
                if !self.accept(Keyword::Role) {
                    self.expect(Keyword::User)?;
                }
                roles = self.list(Parser::role)?;
            } else if self.accept(Keyword::In) {
                self.expect(Keyword::Schema)?;
                schemas = self.list(Parser::name)?;
            } else {
                break;
            }
        }
        let revoke = self.is(Keyword::Revoke);
        if !revoke && !self.is(Keyword::Grant) {
            return Err(self.error());
        }
        self.advance();
        let mut grant_option = false;
        if revoke && self.accept_all(&[Keyword::Grant, Keyword::Option]) {
            self.expect(Keyword::For)?;
            grant_option = true;
        }
        let privileges = if self.accept(Keyword::All) {
            self.accept(Keyword::Privileges);
            Vec::new()
        } else {
            self.list(Parser::privilege)?
        };
        self.expect(Keyword::On)?;
        let (kind, object) = match self.kind() {
            Kind::Keyword(Keyword::Tables) => ('r', ObjectKind::Table),
            Kind::Keyword(Keyword::Sequences) => ('S', ObjectKind::Sequence),
            Kind::Keyword(Keyword::Functions | Keyword::Routines) => ('f', ObjectKind::Function),
            Kind::Keyword(Keyword::Types) => ('T', ObjectKind::Type),
            Kind::Keyword(Keyword::Schemas) => ('n', ObjectKind::Schema),
            _ => return Err(self.error()),
        };
        self.advance();
        self.expect(if revoke { Keyword::From } else { Keyword::To })?;
        let action = self.grant_end(Grant {
            revoke,
            privileges,
            kind: object,
            word: "FUNCTION",
            in_schema: false,
            names: Vec::new(),
            signatures: Vec::new(),
            granted_by: None,
            grantees: Vec::new(),
            grant_option,
            cascade: false,
        })?;
        let alter = AlterDefaultPrivileges { roles, schemas, kind, action };
        Ok(Statement::AlterDefaultPrivileges(alter))
    }

    /// Whether the kind of object is named (a table may stand alone, and may be called `database`).
    fn begins_grant_kind(&self) -> bool {
        let named = matches!(
            self.kind(),
            Kind::Keyword(
                Keyword::Table
                    | Keyword::Sequence
                    | Keyword::Database
                    | Keyword::Schema
                    | Keyword::Function
                    | Keyword::Procedure
                    | Keyword::Routine
                    | Keyword::Language
                    | Keyword::Domain
                    | Keyword::Type
                    | Keyword::Tablespace
                    | Keyword::Parameter
                    | Keyword::Large
                    | Keyword::Foreign
            )
        );
        named
            && self.is_label(self.kind_at(1))
            && !matches!(self.kind_at(1), Kind::Keyword(Keyword::To | Keyword::From))
    }

    fn privilege(&mut self) -> Result<(Ident, Vec<Ident>)> {
        let name = match self.kind() {
            Kind::Keyword(keyword @ (Keyword::Select | Keyword::References | Keyword::Create)) => {
                self.advance();
                keyword.word().into()
            }
            Kind::Keyword(Keyword::Alter) => {
                self.advance();
                self.expect(Keyword::System)?;
                "alter system".into()
            }
            _ => self.name()?,
        };
        let columns =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
        Ok((name, columns))
    }

    fn grant_role(
        &mut self,
        revoke: bool,
        privileges: Vec<(Ident, Vec<Ident>)>,
        mut admin_option: bool,
    ) -> Result<Statement> {
        let roles = privileges.into_iter().map(|(name, _)| name).collect();
        let grantees = self.grantees()?;
        if !revoke && self.accept(Keyword::With) {
            self.expect_all(&[Keyword::Admin, Keyword::Option])?;
            admin_option = true;
        }
        let granted_by = self.granted_by()?;
        let cascade = revoke && self.cascade();
        Ok(Statement::GrantRole(GrantRole {
            revoke,
            roles,
            grantees,
            admin_option,
            granted_by,
            alters: false,
            cascade,
        }))
    }

    fn grantees(&mut self) -> Result<Vec<Ident>> {
        self.list(|parser| {
            parser.accept(Keyword::Group);
            parser.role()
        })
    }

    fn granted_by(&mut self) -> Result<Option<Ident>> {
        if !self.accept(Keyword::Granted) {
            return Ok(None);
        }
        self.expect(Keyword::By)?;
        self.role().map(Some)
    }
}
